"""From records to what may be said of them. Knows no pages and no torch."""
