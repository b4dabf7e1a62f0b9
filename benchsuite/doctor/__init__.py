"""What this machine can do, and what recipes would need here."""
