"""Pairs in tar files as img2dataset and webdataset write them: an image and its caption under one key.

Tar files are read in place, where the library `datasets` would copy them, and a cut one is refused. Each is gone
through once; where its members are, and their captions, stays in the cache until the file changes, and is mapped.
"""

import io
import json
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.cached import made_once
from benchsuite.data.readers.contents import watching
from benchsuite.data.readers.files import stamp
from benchsuite.data.readers.images import BadPicture, Fit, LazyArray, LazyImages
from benchsuite.data.texts import TextLists, Texts, TextsWriter
from benchsuite.errors import UsageError
from benchsuite.paths import cache
from benchsuite.workers import spread

IMAGES = ("jpg", "jpeg", "png", "webp")
VERSION = 1
"""Of the kept indexes."""


@dataclass(frozen=True)
class Members:
    """Images in tar files: the file of each, where its bytes start, and how many they are."""

    tars: Sequence[Path]
    keys: Sequence[str]
    which: NDArray[np.int32]
    offset: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)

    def mark(self, i: int) -> str:
        """Key and size: what is digested of image i."""
        return f"{self.keys[i]}\0{self.size[i]}"

    def array(self, size: int, fit: Fit) -> LazyArray:
        """The images, decoded when asked for."""
        from PIL import Image

        return LazyImages(len(self), size, lambda i: Image.open(io.BytesIO(self.read(i))), self._where, fit)

    def read(self, i: int) -> bytes:
        """The bytes of image i; a tar file that ends before them is refused."""
        tar: Path = self.tars[int(self.which[i])]
        size = int(self.size[i])
        with tar.open("rb") as stream:
            stream.seek(int(self.offset[i]))
            content = stream.read(size)
        if len(content) < size:
            raise BadPicture(
                f"{self._where(i)}: the tar file ends in the middle of it; it was cut since it was indexed."
            )
        return content

    def _where(self, i: int) -> str:
        return f"{self.tars[self.which[i]]}, {self.keys[i]}"


def read_tars(tars: Sequence[Path], limit: int | None = None) -> tuple[Members, TextLists]:
    """The images of all tar files in order, and a caption each; the first `limit` of them if there is one."""
    key = short_digest([VERSION, stamp({f"{i:07}": tar for i, tar in enumerate(tars)}), limit])
    index = made_once(cache() / "pairs" / f"tars-{key}", lambda draft: _join(tars, limit, draft))
    numbers = {name: np.load(index / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in NUMBERS}
    return Members(tars, Texts(index, "key"), **numbers), TextLists(index, "caption")


NUMBERS = ("which", "offset", "size")


def _join(tars: Sequence[Path], limit: int | None, draft: Path) -> None:
    """The indexes of all tar files as one, column by column."""
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in NUMBERS}
    with TextsWriter(draft, "key") as keys, TextsWriter(draft, "caption") as captions:
        for number, index in enumerate(_indexes(tars, limit is None)):
            rows = index.slice(0, None if limit is None else limit - len(keys))
            keys.add_column(rows.column("key"))
            captions.add_column(rows.column("caption"))
            parts["which"].append(np.full(len(rows), number, np.int32))
            for name in ("offset", "size"):
                parts[name].append(rows.column(name).to_numpy())
            if limit is not None and len(keys) >= limit:
                break
        if not len(keys):
            raise UsageError(
                f"{tars[0]}: there is no pair of an image and its caption in it, or in the other tar files."
            )
    for name, own in parts.items():
        np.save(draft / f"{name}.npy", np.concatenate(own))


def _indexes(tars: Sequence[Path], all_of_them: bool) -> Iterable[Any]:
    """The index of each, made now if it is not kept; by several processes if all are needed."""
    import pyarrow.parquet as pq

    sizes, watch, done = [tar.stat().st_size for tar in tars], watching.get(), 0
    files = spread(_index, tars) if all_of_them else map(_index, tars)
    for file, size in zip(files, sizes, strict=True):
        done += size
        watch(done, sum(sizes))
        yield pq.read_table(file)


def _index(tar: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(draft: Path) -> None:
        keys, offsets, sizes, captions = _scan(tar)
        columns = {"key": pa.array(keys, pa.string()), "caption": pa.array(captions, pa.string())}
        columns |= {"offset": pa.array(offsets, pa.int64()), "size": pa.array(sizes, pa.int64())}
        pq.write_table(pa.table(columns), draft)

    return made_once(cache() / "tars" / f"{stamp({f'v{VERSION}': tar})}.parquet", write)


def _scan(file: Path) -> tuple[list[str], list[int], list[int], list[str]]:
    images: dict[str, tuple[int, int]] = {}
    captions: dict[str, str] = {}
    metadata: dict[str, tarfile.TarInfo] = {}
    try:
        with tarfile.open(file, "r:") as tar:
            for member in tar:
                folder, _, name = member.name.rpartition("/")
                stem, _, kind = name.partition(".")
                key = f"{folder}/{stem}" if folder else stem
                if not member.isfile() or stem == "":
                    continue
                if kind.lower() in IMAGES:
                    images[key] = (member.offset_data, member.size)
                elif kind == "txt":
                    captions[key] = _text(tar, member)
                elif kind == "json":
                    metadata[key] = member
            if tar.fileobj is None or not _ends(tar.fileobj, tar.offset):
                raise tarfile.ReadError("it ends in the middle")
            for key in images.keys() - captions.keys() & metadata.keys():
                captions[key] = str(json.loads(_text(tar, metadata[key])).get("caption") or "")
    except (OSError, tarfile.TarError, UnicodeDecodeError, ValueError, AttributeError) as error:
        raise UsageError(f"{file}: not a complete tar file as img2dataset writes them ({error}).") from error
    if uncaptioned := [key for key in images if not captions.get(key, "").strip()]:
        key = uncaptioned[0]
        raise UsageError(f"{file}, {key}: an image without a caption; there must be {key}.txt or .json.")
    return (
        list(images),
        [offset for offset, _ in images.values()],
        [size for _, size in images.values()],
        [captions[key] for key in images],
    )


def _ends(stream: Any, offset: int) -> bool:
    """Whether the end-of-file mark of a tar file is there; tarfile itself takes a cut between two members for it."""
    stream.seek(offset)
    return bool(stream.read(tarfile.BLOCKSIZE) == bytes(tarfile.BLOCKSIZE))


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    stream = tar.extractfile(member)
    return stream.read().decode("utf-8") if stream else ""
