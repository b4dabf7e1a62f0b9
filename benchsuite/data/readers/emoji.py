"""Pictures of emoji in several drawing styles with names: clones of the public repositories, or a parquet file.

An emoji is its sequence of code points as hex numbers, without variation selectors (U+FE0F); its base has no skin tone
either. What is read does not depend on which of the two it was read from, or on the order of files and keywords.
"""

import hashlib
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.cached import load, made_once, save
from benchsuite.data.readers.emoji_clones import CLONES, CloneNames, base_of, cleaned, clone_files
from benchsuite.data.readers.files import require_folder, stamp
from benchsuite.data.readers.images import square
from benchsuite.errors import UsageError
from benchsuite.paths import cache

VERSION = 1
"""Of how rows are read, and of the kept arrays."""
COLUMNS = ("image", "vendor", "sequence", "base", "tone", "name", "keywords", "category")
LAYOUT = (
    f"clones of {', '.join(CLONES)} (docs/emoji.md has the commands), or parquet files with columns "
    f"{', '.join(COLUMNS)}"
)


@dataclass(frozen=True)
class Emoji:
    """One picture of an emoji, without its pixels."""

    style: str
    sequence: str
    base: str
    tone: int
    name: str
    category: str
    picture: str
    """Digest of its pixels on white, before they are resized."""
    keywords: tuple[str, ...]

    def texts(self) -> list[str]:
        """As it is kept and digested."""
        about = [self.style, self.sequence, self.base, str(self.tone), self.name, self.category, self.picture]
        return [*about, *self.keywords]

    @classmethod
    def of_texts(cls, texts: list[str]) -> "Emoji":
        """The inverse."""
        style, sequence, base, tone, name, category, picture, *keywords = texts
        return cls(style, sequence, base, int(tone), name, category, picture, tuple(keywords))


@dataclass(frozen=True)
class Pictures:
    """All pictures in order of style and sequence: uint8 [n, pixels, pixels, 3], mapped from disk."""

    folder: Path

    @cached_property
    def rows(self) -> list[Emoji]:
        """What is said of each."""
        return [Emoji.of_texts(texts) for texts in load(self.folder)["rows"]]

    @property
    def images(self) -> NDArray[np.uint8]:
        """Their pixels."""
        images: NDArray[np.uint8] = load(self.folder)["images"]
        return images

    @cached_property
    def digest(self) -> str:
        """Of all texts and pictures."""
        return short_digest([row.texts() for row in self.rows])


def pictures_in(dataset: str, folder: str, pixels: int) -> Pictures:
    """Those of a folder, decoded and resized at the first call, then read from the cache until a file changes."""
    root = require_folder(dataset, folder, LAYOUT)
    tables = _tables(root)
    files = {path.name: path for path in tables} or clone_files(root)
    key = short_digest([VERSION, pixels, stamp(files)])

    def make(draft: Path) -> None:
        found = _from_tables(tables, pixels) if tables else _from_clones(root, files, pixels)
        ordered = sorted(found, key=lambda pair: (pair[0].style, pair[0].sequence))
        for (one, _), (other, _) in itertools.pairwise(ordered):
            if (one.style, one.sequence) == (other.style, other.sequence):
                raise UsageError(f"{root}: {one.style} has two pictures of {one.sequence} ({one.name}).")
        if not ordered:
            raise UsageError(f"{root}: no pictures of emoji. {dataset} needs {LAYOUT}.")
        save({"images": np.stack([p for _, p in ordered]), "rows": [row.texts() for row, _ in ordered]}, draft)

    return Pictures(made_once(cache() / "emoji" / key, make))


def _tables(root: Path) -> list[Path]:
    return sorted(root.glob("*.parquet")) or sorted(root.glob("data/*.parquet"))


def _from_tables(tables: list[Path], pixels: int) -> Iterator[tuple[Emoji, NDArray[np.uint8]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in tables:
        try:
            table = pq.read_table(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise UsageError(f"{path}: not a readable parquet file ({error}).") from error
        if missing := [name for name in COLUMNS if name not in table.column_names]:
            raise UsageError(f"{path}: no column {missing[0]} (it has {', '.join(table.column_names)}). Give {LAYOUT}.")
        for batch in table.select(COLUMNS).to_batches(max_chunksize=512):
            for number, row in enumerate(batch.to_pylist()):
                data = (row["image"] or {}).get("bytes")
                if data is None:
                    raise UsageError(f"{path}, row {number}, column image: no bytes.")
                yield _emoji(row, data, f"{path}, {row['vendor']} {row['sequence']}", pixels)


def _from_clones(root: Path, files: Mapping[str, Path], pixels: int) -> Iterator[tuple[Emoji, NDArray[np.uint8]]]:
    names = CloneNames(root)
    for key, path in files.items():
        style, _, sequence = key.partition(" ")
        if sequence and (about := names.of(sequence)):
            yield _emoji({"vendor": style, "sequence": sequence, **about}, path.read_bytes(), str(path), pixels)


def _emoji(row: Mapping[str, Any], data: bytes, where: str, pixels: int) -> tuple[Emoji, NDArray[np.uint8]]:
    picture = _on_white(data, where)
    sha = hashlib.sha256(json.dumps(picture.size).encode() + picture.tobytes()).hexdigest()[:16]
    base, tone = base_of(row["sequence"])
    if (row.get("base", base), row.get("tone", tone)) != (base, tone):
        raise UsageError(f"{where}: base {row['base']}, tone {row['tone']}; {row['sequence']} has {base}, {tone}.")
    name, keywords, category = cleaned(row["name"], row["keywords"], row["category"])
    return Emoji(row["vendor"], row["sequence"], base, tone, name, category, sha, keywords), square(picture, pixels)


def _on_white(data: bytes, where: str) -> Any:
    """The whole picture in the middle of a white square, RGB."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            picture = image.convert("RGBA")
    except (UnidentifiedImageError, OSError) as error:
        raise UsageError(f"{where}: these {len(data)} bytes are not an image that can be decoded.") from error
    side = max(picture.size)
    ground = Image.new("RGBA", (side, side), "white")
    ground.alpha_composite(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    return ground.convert("RGB")
