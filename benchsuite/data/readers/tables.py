"""Tables of pairs: an image file and its caption a row, in CSV, TSV, JSON or JSON lines.

The library `datasets` guesses types: it reads the captions "None" and "NA" as missing and "7" as a number, here they
are text.
"""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchsuite.canonical import short_digest
from benchsuite.data.cached import made_once
from benchsuite.data.readers.contents import watching
from benchsuite.data.readers.files import stamp
from benchsuite.data.texts import TextLists, Texts, TextsWriter
from benchsuite.errors import UsageError
from benchsuite.paths import cache

VERSION = 1
"""Of the kept columns."""
OFTEN = 100_000
"""Rows between reports of how far a table is read."""
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


class Pairs(NamedTuple):
    """All rows of a table by column, mapped from the cache."""

    ids: Sequence[str]
    images: Sequence[str]
    captions: TextLists


def read_pairs(file: Path, limit: int | None = None) -> Pairs:
    """The table's rows in order, the first `limit` of them if there is one. It is parsed once, until it changes."""
    key = short_digest([VERSION, stamp({file.name: file}), limit])

    def write(draft: Path) -> None:
        with ExitStack() as stack:
            ids, images, captions = (stack.enter_context(TextsWriter(draft, name)) for name in Pairs._fields)
            for line, row in islice(_rows(file), limit):
                pair = _pair(file, line, row)
                ids.add(pair.id)
                images.add(pair.image)
                captions.add_list(pair.captions)
            if not len(ids):
                raise UsageError(f"{file}: there are no pairs. It must have {LAYOUT}.")

    index = made_once(cache() / "pairs" / f"table-{key}", write)
    return Pairs(Texts(index, "ids"), Texts(index, "images"), TextLists(index, "captions"))


def paraphrases_of(ids: Sequence[str], file: Path, pairs: str) -> TextLists:
    """Those of each pair, in the order of the pairs, which are known by the key `pairs`; every pair must have one.

    JSON lines with `id` and a list `paraphrases`, or CSV with a row for each paraphrase.
    """
    key = short_digest([VERSION, pairs, stamp({file.name: file})])

    def write(draft: Path) -> None:
        paraphrases = read_paraphrases(file)
        with TextsWriter(draft, "paraphrases") as column:
            for id_ in ids:
                if id_ not in paraphrases:
                    raise UsageError(f'{file}: there is no paraphrase for "{id_}"; every pair needs one.')
                column.add_list(paraphrases[id_])

    return TextLists(made_once(cache() / "pairs" / f"paraphrases-{key}", write), "paraphrases")


def read_paraphrases(file: Path) -> dict[str, list[str]]:
    """Paraphrases by id."""
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
                size, watch = file.stat().st_size, watching.get()
                for i, row in enumerate(cells, start=2):
                    if row:
                        yield i, dict(zip(names, row, strict=False))
                    if i % OFTEN == 0:
                        watch(os.lseek(lines.fileno(), 0, os.SEEK_CUR), size)
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
