"""Tables in CSV, TSV, JSON or JSON lines, row by row, with errors that name file and line; and what rows of pairs hold.

The library `datasets` guesses types: it reads the captions "None" and "NA" as missing and "7" as a number, here they
are text.
"""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from benchsuite.data.readers.files import json_of, watching
from benchsuite.errors import UsageError, did_you_mean
from benchsuite.files import reason_of, require_regular

OFTEN = 100_000
"""Rows between reports of how far a table is read."""
KINDS = (".tsv", ".csv", ".json", ".jsonl")
IMAGE = ("filepath", "image", "file", "filename", "path")
CAPTION = ("caption", "title", "text")
ID = ("id", "image_id", "key")
"""Names that a column may have: open_clip's tables have filepath and title, SogCLR's have image and caption."""
LAYOUT = f"a column for the image file ({', '.join(IMAGE)}) and one for the caption ({', '.join(CAPTION)})"
Row = Mapping[str, Any]


def rows_of(file: Path) -> Iterator[tuple[int, Row]]:
    """Rows with the number of their first line, or their position in a JSON list. An empty line is no row."""
    try:
        require_regular(file)
        with file.open(encoding="utf-8-sig", newline="") as lines:
            if file.suffix == ".json":
                yield from _list(file, json_of(lines.read(), str(file)))
            elif file.suffix == ".jsonl":
                for i, text in enumerate(lines, start=1):
                    if text.strip():
                        yield i, _object(f"{file}, line {i}", json_of(text, f"{file}, line {i}"))
            else:
                names, cells = cells_of(file, lines)
                empty = dict.fromkeys(names, "")
                for i, row in cells:
                    if any(row[len(names) :]):
                        what = f"{len(row)} cells under {len(names)} names; a text with a comma or a tab needs quotes"
                        raise UsageError(f"{file}, line {i}: {what}.")
                    if row:
                        yield i, empty | dict(zip(names, row, strict=False))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as {file.suffix[1:].upper()}: {reason_of(error)}.") from error


def read_csv(file: Path, fields: Sequence[str], rows_are: str = "rows") -> list[dict[str, str]]:
    """All rows under the header, which must have these fields; cells that a row lacks are empty. There must be rows."""
    rows = [dict(row) for _, row in rows_of(file)]
    if not rows:
        raise UsageError(f"{file}: there are no {rows_are} below the header.")
    names = rows[0]
    if missing := [field for field in fields if field not in names]:
        has = ", ".join(names)
        raise UsageError(f'{file}: there is no column "{missing[0]}" (it has {has}).{did_you_mean(missing[0], names)}')
    return rows


def whole_number(where: str, field: str, row: Mapping[str, str]) -> int:
    """A cell that is a class or a count."""
    if not row[field].strip().isdecimal():
        raise UsageError(f'{where}: {field} "{row[field]}" is not a whole number.')
    return int(row[field])


def whole_numbers(where: str, field: str, row: Mapping[str, str]) -> list[int]:
    """A cell that lists classes."""
    numbers = json_of(row[field], f"{where}: {field}") if row[field] else None
    if not (isinstance(numbers, list) and numbers and all(type(n) is int and n >= 0 for n in numbers)):
        raise UsageError(f'{where}: {field} "{row[field]}" is not a list of classes such as [2, 13].')
    return numbers


def cells_of(file: Path, lines: TextIO) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a table whose cells are parted by commas, or tabs if the header has some; and the rows below it."""
    header = lines.readline()
    delimiter = "\t" if "\t" in header else ","
    names = next(csv.reader([header], delimiter=delimiter), [])

    def rows() -> Iterator[tuple[int, list[str]]]:
        cells, line = csv.reader(lines, delimiter=delimiter), 2
        size, watch = os.fstat(lines.fileno()).st_size, watching.get()
        try:
            for number, row in enumerate(cells):
                yield line, row
                line = cells.line_num + 2
                if number % OFTEN == OFTEN - 1:
                    watch(os.lseek(lines.fileno(), 0, os.SEEK_CUR), size)
        except csv.Error as error:
            raise UsageError(
                f"{file}, line {line}: cannot be read as CSV: {error}. Is there a quote that is not closed?"
            ) from error

    return names, rows()


def pairs_in(file: Path) -> Iterator[tuple[str, str, Sequence[str]]]:
    """The pairs of a table, in order: the id that other tables have for one, its image file, and its captions."""
    for line, row in rows_of(file):
        image, captions = (next((row[name] for name in names if name in row), None) for names in (IMAGE, CAPTION))
        if image is None or captions is None:
            has = ", ".join(map(str, row)) or "nothing"
            raise UsageError(f"{file}, line {line}: it has {has}. There must be {LAYOUT}.")
        texts = [captions] if isinstance(captions, str) else [str(text) for text in captions]
        if not str(image).strip() or not texts or not all(text.strip() for text in texts):
            raise UsageError(f"{file}, line {line}: the image file or its caption is empty; remove the row.")
        name = next((row[name] for name in ID if row.get(name) is not None), image)
        yield str(name), str(image), texts


def read_paraphrases(file: Path) -> dict[str, list[str]]:
    """Paraphrases by id: JSON lines with `id` and a list `paraphrases`, or CSV with a row for each paraphrase."""
    paraphrases: dict[str, list[str]] = {}
    for line, row in rows_of(file):
        name, texts = row.get("id"), row.get("paraphrases", row.get("paraphrase"))
        if name is None or not texts:
            raise UsageError(f'{file}, line {line}: there must be "id", and "paraphrases" or "paraphrase".')
        paraphrases.setdefault(str(name), []).extend([texts] if isinstance(texts, str) else map(str, texts))
    return paraphrases


def find_table(folder: Path, names: Sequence[str]) -> Path | None:
    """The one table of any of these names in a folder, whatever its kind."""
    paths = (folder / f"{name}{kind}" for name in names for kind in KINDS)
    tables = [path for path in paths if path.is_file()]
    if len(tables) > 1:
        raise UsageError(f"{folder}: {tables[0].name} and {tables[1].name} are two tables for the same; keep one.")
    return tables[0] if tables else None


def _list(file: Path, content: Any) -> Iterator[tuple[int, Row]]:
    if not isinstance(content, list):
        raise UsageError(f"{file}: not a list of objects, one a pair, with {LAYOUT}.")
    yield from ((i, _object(f"{file}, line {i}", row)) for i, row in enumerate(content, start=1))


def _object(where: str, row: Any) -> Row:
    if not isinstance(row, dict):
        raise UsageError(f"{where}: not an object with {LAYOUT}.")
    return row
