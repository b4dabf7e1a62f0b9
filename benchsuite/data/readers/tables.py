"""Tables of pairs: an image file and its caption a row, in CSV, TSV, JSON or JSON lines.

The library `datasets` guesses types: it reads the captions "None" and "NA" as missing and "7" as a number, here they
are text.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchsuite.errors import UsageError

KINDS = (".tsv", ".csv", ".json", ".jsonl")
IMAGE = ("filepath", "image", "file", "filename", "path")
CAPTION = ("caption", "title", "text")
ID = ("id", "image_id", "key")
"""Names that a column may have: open_clip's tables have filepath and title, SogCLR's have image and caption."""
LAYOUT = f"a column for the image file ({', '.join(IMAGE)}) and one for the caption ({', '.join(CAPTION)})"


class Pair(NamedTuple):
    """An image file, its captions, and the id that other tables have for it."""

    id: str
    image: str
    captions: Sequence[str]


def read_pairs(file: Path, limit: int | None = None) -> list[Pair]:
    """The table's rows in order, the first `limit` of them if there is one."""
    pairs = [_pair(file, line, row) for line, row in islice(_rows(file), limit)]
    if not pairs:
        raise UsageError(f"{file}: there are no pairs. It must have {LAYOUT}.")
    return pairs


def read_paraphrases(file: Path) -> dict[str, list[str]]:
    """Paraphrases by id: JSON lines with `id` and a list `paraphrases`, or CSV with a row for each paraphrase."""
    paraphrases: dict[str, list[str]] = {}
    for line, row in _rows(file):
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


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Rows with the number of their line, or their position in a JSON list."""
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
    image, captions = (next((row[name] for name in names if name in row), None) for names in (IMAGE, CAPTION))
    if image is None or captions is None:
        has = ", ".join(map(str, row)) or "nothing"
        raise UsageError(f"{file}, line {line}: it has {has}. There must be {LAYOUT}.")
    texts = [captions] if isinstance(captions, str) else [str(text) for text in captions]
    if not str(image).strip() or not texts or not all(text.strip() for text in texts):
        raise UsageError(f"{file}, line {line}: the image file or its caption is empty; remove the row.")
    name = next((row[name] for name in ID if row.get(name) is not None), image)
    return Pair(str(name), str(image), texts)
