"""The draft of a table's file from a CSV; what a CSV cannot tell is marked to be filled in.

Its first column has the labels of rows, and columns of known names describe them. All other columns are the table's,
with published numbers or empty. Whether names and numbers are possible is for the reader of tables and the planner.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchsuite.errors import UsageError

FILL_IN = "FILL IN"
ABOUT_ROWS = ("method", "backbone", "variant", "role", "note")
"""Headers of columns that describe rows; any other column is the table's."""
EMPTY = ("", "-", "–", "—")


def read_csv(file: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The headers of the table's own columns, and its rows by header; the first column is the `label`."""
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}.") from error
    first = text.partition("\n")[0]
    reader = csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count))
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise UsageError(f"{file}, line {reader.line_num}: {error}.") from error
    (_, head), *rows = [(number, cells) for number, cells in lines if any(cells)] or [(0, [])]
    headers = ["label", *(cell.lower() if cell.lower() in ABOUT_ROWS else cell for cell in head[1:])]
    own = [header for header in headers[1:] if header not in ABOUT_ROWS]
    if not own or not rows:
        raise UsageError(f"{file}: write a line of headers, and below it rows of a label and a column at least.")
    for number, cells in rows:
        if len(cells) != len(headers):
            raise UsageError(f"{file}, line {number}: {len(cells)} cells, but {len(headers)} headers.")
    if "" in headers or not all(cells[0] for _, cells in rows):
        raise UsageError(f"{file}: each column needs a header, and each row a label in the first column.")
    return own, [dict(zip(headers, cells, strict=True)) for _, cells in rows]


def key_of(header: str) -> str:
    """`MSCOCO/IR@1` as mscoco_ir_1."""
    return re.sub(r"[^a-z0-9]+", "_", header.lower()).strip("_") or "column"


def column(header: str, **about: str) -> dict[str, str]:
    """A table's column; what stands before a slash in its header is its group."""
    group, _, label = header.rpartition("/")
    return {"key": key_of(header), "group": group.strip(), "label": label.strip(), **about}


def row(cells: Mapping[str, str], own: Iterable[str], **about: str) -> dict[str, Any]:
    """A table's row; `about` says what its cells do not."""
    described = {"label": cells["label"], **about, **{key: cells[key] for key in ABOUT_ROWS if cells.get(key)}}
    published = {
        key_of(header): _number(f'row "{cells["label"]}", column "{header}"', cells[header])
        for header in own
        if cells[header] not in EMPTY
    }
    return described | ({"published": published} if published else {})


def _number(where: str, cell: str) -> float:
    try:
        number = float(cell.removesuffix("%"))
    except ValueError:
        number = float("nan")
    if abs(number) < float("inf"):
        return number
    raise UsageError(f'{where}: "{cell}" is not a number. Write the mean alone, with a point, or leave it empty.')


def as_toml(table: Mapping[str, Any]) -> str:
    """The table's file."""
    lists = {name: value for name, value in table.items() if isinstance(value, list)}
    lines = [*_pairs({name: value for name, value in table.items() if not isinstance(value, list | dict)}), ""]
    lines += ["[recipes]", *_pairs(table["recipes"])]
    for name, parts in lists.items():
        for part in parts:
            lines += ["", f"[[{name}]]", *_pairs(part)]
    return "\n".join(lines) + "\n"


def _pairs(values: Mapping[str, Any]) -> Sequence[str]:
    """Strings of JSON are strings of TOML."""
    return [f"{_key(key)} = {_value(value)}" for key, value in values.items()]


def _value(value: Any) -> str:
    return f"{{ {', '.join(_pairs(value))} }}" if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
