"""Finding and reading table files."""

import re
from collections.abc import Sequence

from benchsuite.errors import UsageError, did_you_mean, unknown
from benchsuite.papers.schema import Table
from benchsuite.paths import baselines
from benchsuite.toml_files import read_toml

EVERYTHING = "all"


def table_names(paper: str = "*") -> list[str]:
    """All tables as `paper/table`, table2 before table10."""
    root = baselines() / "papers"
    names = [file.relative_to(root).with_suffix("").as_posix() for file in root.glob(f"{paper}/*.toml")]
    return sorted(names, key=_order)


def paper_names() -> list[str]:
    """All papers with tables."""
    return sorted({name.partition("/")[0] for name in table_names()})


def read_table(name: str) -> Table:
    """The table of that name."""
    file = baselines() / "papers" / f"{name}.toml"
    if not re.fullmatch(r"[^/]+/[^/]+", name) or not file.is_file():
        raise unknown("table", name, table_names())
    return read_toml(file, Table)


def named_tables(names: Sequence[str], scale: str | None = None) -> list[str]:
    """Tables by name, by paper, or all. Of a paper and of all, only tables with a recipe at the scale are taken."""
    tables = dict.fromkeys(table for name in names for table in _tables_of(name, scale))
    if not tables:
        raise UsageError("no table was named: give one as paper/table, a paper, or all.")
    return list(tables)


def _tables_of(name: str, scale: str | None) -> list[str]:
    every = table_names()
    if name in every:
        return [name]
    group = [table for table in every if name in (EVERYTHING, table.partition("/")[0])]
    if not group:
        hint = did_you_mean(name, [*every, *paper_names(), EVERYTHING])
        raise UsageError(f'table "{name}" does not exist.{hint} `benchsuite list tables` shows all.')
    recipes = {table: read_table(table).recipes for table in group} if scale else {}
    tables = [table for table in group if scale is None or scale in recipes[table]]
    if not tables:
        raise unknown("scale", str(scale), {known for scales in recipes.values() for known in scales}, f"{name}: ")
    return tables


def _order(name: str) -> tuple[str, str, int, str]:
    """Sort key: by paper, then figures and tables by number."""
    paper, _, table = name.partition("/")
    kind, number, rest = re.fullmatch(r"(\D*)(\d*)(.*)", table).groups()  # type: ignore[union-attr]
    return paper, kind, int(number or 0), rest
