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
    return sorted(names, key=_in_order)


def paper_names() -> list[str]:
    """All papers with tables."""
    return sorted({name.partition("/")[0] for name in table_names()})


def read_table(name: str) -> Table:
    """The table of that name."""
    if name not in table_names():
        raise unknown("table", name, table_names())
    return read_toml(baselines() / "papers" / f"{name}.toml", Table)


def named_tables(names: Sequence[str], scale: str | None = None) -> list[str]:
    """Tables by name, by paper, or all; those that a paper or `all` brings in must have a recipe at the scale."""
    found: dict[str, None] = {}
    for name in names:
        several = table_names() if name == EVERYTHING else table_names(name) if name in paper_names() else []
        able = [one for one in several if scale is None or scale in read_table(one).recipes]
        if several and not able:
            scales = {one for table in several for one in read_table(table).recipes}
            raise unknown("scale", str(scale), scales, f"{name}: ")
        if not several and name not in table_names():
            near = did_you_mean(name, [*table_names(), *paper_names(), EVERYTHING])
            raise UsageError(f'table "{name}" does not exist.{near} `benchsuite list tables` shows all.')
        found |= dict.fromkeys(able or [name])
    if not found:
        raise UsageError("no table was named: give one as paper/table, a paper, or all.")
    return list(found)


def _in_order(name: str) -> tuple[str, str, int, str]:
    """By paper, then figures and tables by number."""
    paper, _, table = name.partition("/")
    kind, number, rest = re.fullmatch(r"(\D*)(\d*)(.*)", table).groups()  # type: ignore[union-attr]
    return paper, kind, int(number or 0), rest
