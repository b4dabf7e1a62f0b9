"""Tables of pairs as people keep them: a picture's file and its caption a row, in CSV, TSV, JSON or JSON lines."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchsuite.errors import UsageError

KINDS = (".tsv", ".csv", ".json", ".jsonl")
PICTURE = ("filepath", "image", "file", "filename", "path")
CAPTION = ("caption", "title", "text")
ID = ("id", "image_id", "key")
"""Names that a column may have: open_clip's tables say filepath and title, SogCLR's say image and caption."""
LAYOUT = f"a column for the picture's file ({', '.join(PICTURE)}) and one for the caption ({', '.join(CAPTION)})"


class Pair(NamedTuple):
    """A picture's file, what is said of it, and the name by which other tables speak of it."""

    id: str
    picture: str
    captions: Sequence[str]


def read_pairs(file: Path, limit: int | None = None) -> list[Pair]:
    """The table's rows in order, the first `limit` of them if there is one."""
    found: list[Pair] = []
    for line, row in _rows(file):
        if limit is not None and len(found) == limit:
            break
        found.append(_pair(file, line, row))
    if not found:
        raise UsageError(f"{file}: there are no pairs. It must have {LAYOUT}.")
    return found


def read_paraphrases(file: Path) -> dict[str, list[str]]:
    """Other wordings by id: JSON lines with `id` and a list `paraphrases`, or CSV with a row for each paraphrase."""
    found: dict[str, list[str]] = {}
    for line, row in _rows(file):
        name, said = row.get("id"), row.get("paraphrases", row.get("paraphrase"))
        if name is None or not said:
            raise UsageError(f'{file}, line {line}: there must be "id", and "paraphrases" or "paraphrase".')
        found.setdefault(str(name), []).extend([said] if isinstance(said, str) else map(str, said))
    return found


def table_in(folder: Path, names: Sequence[str]) -> Path | None:
    """The one table of any of these names in a folder, whatever its kind."""
    places = (folder / f"{name}{kind}" for name in names for kind in KINDS)
    found = [place for place in places if place.is_file()]
    if len(found) > 1:
        raise UsageError(f"{folder}: {found[0].name} and {found[1].name} are two tables of one thing; keep one.")
    return found[0] if found else None


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Rows with the number of their line, or of their place in a JSON list."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            if file.suffix == ".json":
                yield from enumerate(_list(file, json.load(lines)), start=1)
            elif file.suffix == ".jsonl":
                yield from ((i, _object(file, i, json.loads(x))) for i, x in enumerate(lines, start=1) if x.strip())
            else:
                header = lines.readline()
                tabs = "\t" in header
                names = next(csv.reader([header], delimiter="\t" if tabs else ","), [])
                cells = csv.reader(lines, delimiter="\t" if tabs else ",")
                yield from ((i, dict(zip(names, row, strict=False))) for i, row in enumerate(cells, start=2) if row)
    except (OSError, UnicodeDecodeError, csv.Error, json.JSONDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as {file.suffix[1:].upper()}: {error}.") from error


def _list(file: Path, content: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(content, list):
        raise UsageError(f"{file}: not a list of objects, one a pair, with {LAYOUT}.")
    yield from (_object(file, i, row) for i, row in enumerate(content, start=1))


def _object(file: Path, line: int, row: Any) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise UsageError(f"{file}, line {line}: not an object with {LAYOUT}.")
    return row


def _pair(file: Path, line: int, row: Mapping[str, Any]) -> Pair:
    picture, captions = (next((row[name] for name in names if name in row), None) for names in (PICTURE, CAPTION))
    if picture is None or captions is None:
        has = ", ".join(map(str, row)) or "nothing"
        raise UsageError(f"{file}, line {line}: it has {has}. There must be {LAYOUT}.")
    said = [captions] if isinstance(captions, str) else [str(text) for text in captions]
    if not str(picture).strip() or not said or not all(text.strip() for text in said):
        raise UsageError(f"{file}, line {line}: the picture's file or its caption is empty; leave the row out.")
    name = next((row[name] for name in ID if row.get(name) is not None), picture)
    return Pair(str(name), str(picture), said)
