"""Run records: canonical form and digests, the schema, and the folder they are stored in."""
