"""Validation of stored files: each record against itself, the manifest, other records, and a second training."""
