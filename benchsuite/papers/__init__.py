"""Published tables as data: baselines/papers/<paper>/<table>.toml."""

from benchsuite.papers.reader import read_table, table_names
from benchsuite.papers.schema import Column, PublishedCell, Row, Table

__all__ = ["Column", "PublishedCell", "Row", "Table", "read_table", "table_names"]
