"""Finding and reading table files."""

from benchsuite.errors import unknown
from benchsuite.papers.schema import Table
from benchsuite.paths import baselines
from benchsuite.toml_files import read_toml


def table_names() -> list[str]:
    """All tables as `paper/table`."""
    root = baselines() / "papers"
    return sorted(file.relative_to(root).with_suffix("").as_posix() for file in root.glob("*/*.toml"))


def read_table(name: str) -> Table:
    """The table of that name."""
    if name not in table_names():
        raise unknown("table", name, table_names())
    return read_toml(baselines() / "papers" / f"{name}.toml", Table)
