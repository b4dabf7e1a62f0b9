"""Pairs in tar files as img2dataset and webdataset write them: an image and its caption under one key.

Tar files are read in place, where the library `datasets` would copy them, and a cut one is refused. Each is gone
through once; where its members are, and their captions, stays in the cache until the file changes.
"""

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchsuite.data.cached import made_once
from benchsuite.data.readers.files import json_of, stamp, watching
from benchsuite.data.texts import as_bytes, as_text
from benchsuite.errors import UsageError
from benchsuite.files import open_regular
from benchsuite.paths import cache
from benchsuite.workers import spread

IMAGES = ("jpg", "jpeg", "png", "webp")
VERSION = 2
"""Of the kept indexes."""


class Member(NamedTuple):
    """An image in a tar file with its caption."""

    tar: Path
    key: str
    offset: int
    size: int
    caption: str


def members_of(tars: Sequence[Path], all_of_them: bool) -> Iterator[Member]:
    """The images of all tar files in order; by several processes if all are needed."""
    import pyarrow.parquet as pq

    sizes, watch, done = [tar.stat().st_size for tar in tars], watching.get(), 0
    indexes = spread(_index, tars) if all_of_them else map(_index, tars)
    for tar, index, size in zip(tars, indexes, sizes, strict=True):
        done += size
        watch(done, sum(sizes))
        columns = [column.to_pylist() for column in pq.read_table(index).columns]
        for key, offset, length, caption in zip(*columns, strict=True):
            yield Member(tar, as_text(key), offset, length, as_text(caption))


def _index(tar: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(draft: Path) -> None:
        members = _scan(tar)
        binary, number = pa.binary(), pa.int64()
        columns = {
            "key": pa.array([as_bytes(member.key) for member in members], binary),
            "offset": pa.array([member.offset for member in members], number),
            "size": pa.array([member.size for member in members], number),
            "caption": pa.array([as_bytes(member.caption) for member in members], binary),
        }
        pq.write_table(pa.table(columns), draft)

    return made_once(cache() / "tars" / f"{stamp({f'v{VERSION}': tar})}.parquet", write)


def _scan(file: Path) -> list[Member]:
    images: dict[str, tuple[int, int]] = {}
    captions: dict[str, str] = {}
    metadata: dict[str, tarfile.TarInfo] = {}
    try:
        with open_regular(file) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
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
            if not _ends(stream, tar.offset):
                raise tarfile.ReadError("it ends in the middle")
            for key in images.keys() - captions.keys() & metadata.keys():
                about = json_of(_text(tar, metadata[key]), f"{file}, {key}.json")
                captions[key] = str(about.get("caption") or "")
    except (OSError, tarfile.TarError, UnicodeDecodeError, ValueError, AttributeError) as error:
        raise UsageError(f"{file}: not a complete tar file as img2dataset writes them ({error}).") from error
    if uncaptioned := [key for key in images if not captions.get(key, "").strip()]:
        key = uncaptioned[0]
        raise UsageError(f"{file}, {key}: an image without a caption; there must be {key}.txt or .json.")
    return [Member(file, key, offset, size, captions[key]) for key, (offset, size) in images.items()]


def _ends(stream: Any, offset: int) -> bool:
    """Whether the end-of-file mark of a tar file is there; tarfile itself takes a cut between two members for it."""
    stream.seek(offset)
    return bool(stream.read(tarfile.BLOCKSIZE) == bytes(tarfile.BLOCKSIZE))


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    stream = tar.extractfile(member)
    return stream.read().decode("utf-8") if stream else ""
