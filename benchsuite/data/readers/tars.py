"""Pairs in tar files as img2dataset and webdataset write them: an image and its caption under one key.

Tar files are read in place, where the library `datasets` would copy them, and a cut one is refused.
"""

import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.cached import made_once
from benchsuite.data.readers.files import stamp
from benchsuite.data.readers.images import Fit, LazyArray, LazyImages
from benchsuite.errors import UsageError
from benchsuite.paths import cache

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

        return LazyImages(len(self), size, lambda i: Image.open(io.BytesIO(self._read(i))), self._where, fit)

    def _read(self, i: int) -> bytes:
        tar: Path = self.tars[int(self.which[i])]
        with tar.open("rb") as stream:
            stream.seek(int(self.offset[i]))
            return stream.read(int(self.size[i]))

    def _where(self, i: int) -> str:
        return f"{self.tars[self.which[i]]}, {self.keys[i]}"


def read_tars(tars: Sequence[Path], limit: int | None = None) -> tuple[Members, list[str]]:
    """The images of all tar files in order, and a caption each; the first `limit` of them if there is one.

    A tar file is scanned once; the offsets of its members are kept in the cache until the file changes.
    """
    keys: list[str] = []
    captions: list[str] = []
    parts: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = []
    for number, tar in enumerate(tars):
        if limit is not None and len(keys) >= limit:
            break
        index = _index(tar)
        keys += index.column("key").to_pylist()
        captions += index.column("caption").to_pylist()
        parts.append((number, index.column("offset").to_numpy(), index.column("size").to_numpy()))
    if not keys:
        raise UsageError(f"{tars[0]}: there is no pair of an image and its caption in it, or in the other tar files.")
    which = np.concatenate([np.full(len(offset), number, np.int32) for number, offset, _ in parts])[:limit]
    offset, size = (np.concatenate([part[k] for part in parts])[:limit] for k in (1, 2))
    return Members(tars, keys[:limit], which, offset, size), captions[:limit]


def _index(tar: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(draft: Path) -> None:
        keys, offsets, sizes, captions = _scan(tar)
        columns = {"key": pa.array(keys, pa.string()), "caption": pa.array(captions, pa.string())}
        columns |= {"offset": pa.array(offsets, pa.int64()), "size": pa.array(sizes, pa.int64())}
        pq.write_table(pa.table(columns), draft)

    return pq.read_table(made_once(cache() / "tars" / f"{stamp({f'v{VERSION}': tar})}.parquet", write))


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
