"""Published tables as data: baselines/papers/<paper>/<table>.toml."""

from benchsuite.papers.reader import named_tables, paper_names, read_table, table_names
from benchsuite.papers.schema import Column, PublishedCell, Row, Table

__all__ = ["Column", "PublishedCell", "Row", "Table", "named_tables", "paper_names", "read_table", "table_names"]
