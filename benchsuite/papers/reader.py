"""Finding and reading table files."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, RootModel

from benchsuite.errors import UnknownError, UsageError, did_you_mean, require_known
from benchsuite.folders import built_in_tables, table_files
from benchsuite.papers.schema import Table
from benchsuite.parts import NOTHING
from benchsuite.paths import baselines
from benchsuite.toml_files import read_toml

EVERYTHING = "all"
USUAL = ("features", "small")
"""Where no scale is named: the first of them that there is."""


def table_names(stored: Mapping[str, Path] = NOTHING) -> list[str]:
    """All tables as `paper/table`, table2 before table10."""
    return sorted(_files(stored), key=_order)


def paper_names() -> list[str]:
    """All papers with tables."""
    return sorted({name.partition("/")[0] for name in table_names()})


def read_table(name: str, stored: Mapping[str, Path] = NOTHING) -> Table:
    """The table of that name. `stored` are files of tables that lie with results, by name: they come first."""
    files = _files(stored)
    require_known("table", name, files)
    return read_table_file(name, files[name])


def read_table_file(name: str, file: Path) -> Table:
    """The table of that name from its file, which must say the same name."""
    table = read_toml(file, Table)
    if table.name != name:
        raise UsageError(
            f'{file}: it says paper = "{table.paper}" and table = "{table.table}", but it lies where {name} must be. '
            f"Change the keys, or move it to papers/{table.name}.toml."
        )
    return table


def named_tables(names: Sequence[str], scale: str | None = None, stored: Mapping[str, Path] = NOTHING) -> list[str]:
    """Tables by name, by paper, or all. Of a paper and of all, only tables with a recipe at the scale are taken."""
    tables = dict.fromkeys(table for name in names for table in _tables_of(name, scale, stored))
    if not tables:
        raise UsageError("no table was named: give one as paper/table, a paper, or all.")
    return list(tables)


def usual_scale(tables: Sequence[str]) -> str:
    """The scale of tables where a command names none."""
    there = {scale for table in tables for scale in read_table(table).recipes}
    return next((scale for scale in USUAL if scale in there), USUAL[-1])


def _files(stored: Mapping[str, Path]) -> dict[str, Path]:
    """Built-in tables cannot be replaced; of any other, the one stored with results is shown."""
    return {**table_files(), **stored, **built_in_tables()} if stored else table_files()


def _tables_of(name: str, scale: str | None, stored: Mapping[str, Path]) -> list[str]:
    every = table_names(stored=stored)
    if name in every:
        return [name]
    group = [table for table in every if name in (EVERYTHING, table.partition("/")[0])]
    if not group:
        papers = {table.partition("/")[0] for table in every}
        hint = did_you_mean(name, [*every, *papers, EVERYTHING])
        raise UsageError(f'table "{name}" does not exist.{hint} `benchsuite list tables` shows all.')
    recipes = {table: read_table(table, stored).recipes for table in group} if scale else {}
    tables = [table for table in group if scale is None or scale in recipes[table]]
    if not tables:
        raise UnknownError("scale", str(scale), {known for scales in recipes.values() for known in scales}, f"{name}: ")
    return tables


def _order(name: str) -> tuple[str, str, int, str]:
    """Sort key: by paper, then figures and tables by number."""
    paper, _, table = name.partition("/")
    kind, number, rest = re.fullmatch(r"(\D*)(\d*)(.*)", table).groups()  # type: ignore[union-attr]
    return paper, kind, int(number or 0), rest


class Cited(BaseModel):
    """A paper, as far as it is cited here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    authors: str = ""
    """`Yeh et al.` or `Chen and He`; empty for a paper that its title names."""
    title: str
    year: int | None = None

    @property
    def text(self) -> str:
        """`Chen and He, Exploring Simple Siamese Representation Learning, 2021`."""
        return ", ".join(filter(None, (self.authors, self.title, str(self.year or ""))))


@cache
def bibliography() -> dict[str, Cited]:
    """All of them, by citation key."""
    return read_toml(baselines() / "bibliography.toml", RootModel[dict[str, Cited]]).root
