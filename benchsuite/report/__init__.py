"""Table objects as pages and text. Never imports torch."""
