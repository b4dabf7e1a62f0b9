"""Pairs in tar files as img2dataset and webdataset write them: a picture, and its caption beside it, by one key."""

import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.real.files import stamp
from benchsuite.data.real.pictures import Fit, LazyArray, LazyPictures
from benchsuite.errors import UsageError
from benchsuite.files import draft_of
from benchsuite.paths import cache

PICTURES = ("jpg", "jpeg", "png", "webp")
VERSION = 1
"""Of the kept indexes."""


@dataclass(frozen=True)
class Members:
    """Pictures in tar files, each by its file, where in it the bytes start, and how many they are."""

    shards: Sequence[Path]
    keys: Sequence[str]
    which: NDArray[np.int32]
    offset: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)

    def mark(self, i: int) -> str:
        """Key and size: what is digested of picture i."""
        return f"{self.keys[i]}\0{self.size[i]}"

    def array(self, size: int, fit: Fit) -> LazyArray:
        """The pictures, decoded when asked for."""
        from PIL import Image

        return LazyPictures(len(self), size, lambda i: Image.open(io.BytesIO(self._read(i))), self._where, fit)

    def _read(self, i: int) -> bytes:
        shard: Path = self.shards[int(self.which[i])]
        with shard.open("rb") as stream:
            stream.seek(int(self.offset[i]))
            return stream.read(int(self.size[i]))

    def _where(self, i: int) -> str:
        return f"{self.shards[self.which[i]]}, {self.keys[i]}"


def read_shards(shards: Sequence[Path], limit: int | None = None) -> tuple[Members, list[str]]:
    """The pictures of all shards in order, and a caption each; the first `limit` of them if there is one.

    A shard is gone through once; where its members lie is remembered until the file changes.
    """
    keys: list[str] = []
    captions: list[str] = []
    parts: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = []
    for number, shard in enumerate(shards):
        if limit is not None and len(keys) >= limit:
            break
        index = _index(shard)
        keys += index.column("key").to_pylist()
        captions += index.column("caption").to_pylist()
        parts.append((number, index.column("offset").to_numpy(), index.column("size").to_numpy()))
    if not keys:
        raise UsageError(f"{shards[0]}: neither it nor the others hold a pair of a picture and its caption.")
    which = np.concatenate([np.full(len(offset), number, np.int32) for number, offset, _ in parts])[:limit]
    offset, size = (np.concatenate([part[k] for part in parts])[:limit] for k in (1, 2))
    return Members(shards, keys[:limit], which, offset, size), captions[:limit]


def _index(shard: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    note = cache() / "shards" / f"{stamp({f'v{VERSION}': shard})}.parquet"
    if not note.is_file():
        keys, offsets, sizes, captions = _scan(shard)
        columns = {"key": pa.array(keys, pa.string()), "caption": pa.array(captions, pa.string())}
        columns |= {"offset": pa.array(offsets, pa.int64()), "size": pa.array(sizes, pa.int64())}
        note.parent.mkdir(exist_ok=True)
        with draft_of(note) as draft:
            pq.write_table(pa.table(columns), draft)
    return pq.read_table(note)


def _scan(shard: Path) -> tuple[list[str], list[int], list[int], list[str]]:
    pictures: dict[str, tuple[int, int]] = {}
    captions: dict[str, str] = {}
    more: dict[str, tarfile.TarInfo] = {}
    try:
        with tarfile.open(shard, "r:") as tar:
            for member in tar:
                folder, _, name = member.name.rpartition("/")
                stem, _, kind = name.partition(".")
                key = f"{folder}/{stem}" if folder else stem
                if not member.isfile() or stem == "":
                    continue
                if kind.lower() in PICTURES:
                    pictures[key] = (member.offset_data, member.size)
                elif kind == "txt":
                    captions[key] = _text(tar, member)
                elif kind == "json":
                    more[key] = member
            if tar.fileobj is None or not _ends(tar.fileobj, tar.offset):
                raise tarfile.ReadError("it ends in the middle")
            for key in pictures.keys() - captions.keys() & more.keys():
                captions[key] = str(json.loads(_text(tar, more[key])).get("caption") or "")
    except (OSError, tarfile.TarError, UnicodeDecodeError, ValueError, AttributeError) as error:
        raise UsageError(f"{shard}: no whole tar file as img2dataset writes them ({error}).") from error
    if silent := [key for key in pictures if not captions.get(key, "").strip()]:
        raise UsageError(f"{shard}, {silent[0]}: a picture without a caption; there must be {silent[0]}.txt or .json.")
    return (
        list(pictures),
        [offset for offset, _ in pictures.values()],
        [size for _, size in pictures.values()],
        [captions[key] for key in pictures],
    )


def _ends(stream: Any, offset: int) -> bool:
    """Whether a tar file's mark of its end is there; tarfile itself takes a cut between two members for an end."""
    stream.seek(offset)
    return bool(stream.read(tarfile.BLOCKSIZE) == bytes(tarfile.BLOCKSIZE))


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    stream = tar.extractfile(member)
    return stream.read().decode("utf-8") if stream else ""
