"""A table's file from a CSV: its first column has the labels of rows, columns of known names describe them.

All other columns are the table's, with published numbers or empty. What a CSV cannot tell is marked to be filled in.
"""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchsuite.errors import UsageError

FILL_IN = "FILL IN"
ABOUT_ROWS = ("method", "backbone", "variant", "role", "note")
"""Headers of columns that describe rows; any other column is the table's."""
EMPTY = ("", "-", "–", "—")


@dataclass(frozen=True)
class CsvColumn:
    """A column: what is printed above it, and what measures it."""

    key: str
    header: str
    measure: str = FILL_IN
    unit: str = "percent"
    better: str = "higher"

    @property
    def group(self) -> str:
        """What stands before a slash in its header."""
        return self.header.rpartition("/")[0].strip()

    @property
    def label(self) -> str:
        """What stands after it."""
        return self.header.rpartition("/")[2].strip()


@dataclass(frozen=True)
class CsvRow:
    """A row: its label, what describes it, and its published numbers by column key."""

    line: int
    label: str
    about: dict[str, str] = field(default_factory=dict)
    published: dict[str, float] = field(default_factory=dict)


def read_csv(file: Path) -> tuple[list[str], list[CsvRow]]:
    """The headers of the table's columns, and the rows; separated by commas, semicolons or tabs."""
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}.") from error
    first = text.partition("\n")[0]
    reader = csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count))
    lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    lines = [(number, cells) for number, cells in lines if any(cells)]
    if len(lines) < 2 or len(lines[0][1]) < 2:
        raise UsageError(
            f"{file}: a table needs a line of headers, and below it rows of a label and a column at least."
        )
    headers = lines[0][1]
    if empty := [number for number, header in enumerate(headers[1:], 2) if not header]:
        raise UsageError(f"{file}, line {lines[0][0]}: column {empty[0]} has no header.")
    own = [header for header in headers[1:] if header.lower() not in ABOUT_ROWS]
    if not own:
        raise UsageError(f"{file}: all columns describe rows ({', '.join(headers)}); the table has none of its own.")
    keys = [key_of(header) for header in headers[1:]]
    if twice := [header for number, header in enumerate(headers[1:]) if keys[number] in keys[:number]]:
        raise UsageError(f'{file}: column "{twice[0]}" and one before it have the key {key_of(twice[0])}; rename one.')
    return own, [_row(file, number, headers, cells) for number, cells in lines[1:]]


def key_of(header: str) -> str:
    """`MSCOCO/IR@1` as mscoco_ir_1."""
    return re.sub(r"[^a-z0-9]+", "_", header.lower()).strip("_") or "column"


def _row(file: Path, line: int, headers: Sequence[str], cells: Sequence[str]) -> CsvRow:
    if len(cells) != len(headers):
        raise UsageError(f"{file}, line {line}: {len(cells)} cells, but {len(headers)} headers.")
    if not cells[0]:
        raise UsageError(f"{file}, line {line}: the row has no label in its first column.")
    pairs = list(zip(headers[1:], cells[1:], strict=True))
    about = {header.lower(): cell for header, cell in pairs if header.lower() in ABOUT_ROWS and cell}
    published = {
        key_of(header): _number(f'{file}, line {line}, column "{header}"', cell)
        for header, cell in pairs
        if header.lower() not in ABOUT_ROWS and cell not in EMPTY
    }
    return CsvRow(line, cells[0], about, published)


def _number(where: str, cell: str) -> float:
    try:
        return float(cell.removesuffix("%"))
    except ValueError:
        raise UsageError(
            f'{where}: "{cell}" is not a number. Write the mean alone, with a point, or leave it empty.'
        ) from None


def as_toml(
    name: str, title: str, recipes: dict[str, str], columns: Sequence[CsvColumn], rows: Sequence[CsvRow]
) -> str:
    """The table's file."""
    paper, _, table = name.partition("/")
    head = {"paper": paper, "table": table, "locator": "", "title": title}
    lines = ["file_format = 1", *_pairs(head), "", "[recipes]", *_pairs(recipes)]
    for column in columns:
        about = {"key": column.key, "group": column.group, "label": column.label, "measure": column.measure}
        given = {"unit": (column.unit, "percent"), "better": (column.better, "higher")}
        more = {key: value for key, (value, default) in given.items() if value != default}
        lines += ["", "[[columns]]", *_pairs({**about, **more})]
    for row in rows:
        lines += ["", "[[rows]]", *_pairs({"label": row.label, **row.about})]
        if row.published:
            lines.append(f"published = {{ {', '.join(f'{key} = {value!r}' for key, value in row.published.items())} }}")
    return "\n".join(lines) + "\n"


def _pairs(values: dict[str, str]) -> list[str]:
    """Strings of JSON are strings of TOML."""
    return [f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
