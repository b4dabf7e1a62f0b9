"""Pairs in tar files as img2dataset and webdataset write them: an image and its caption under one key.

Tar files are read in place, where the library `datasets` would copy them, and a cut one is refused. Each is gone
through once; where its members are, and their captions, stays in the cache until the file changes.
"""

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from benchsuite.data.readers.files import computed_once, json_of, stamp, watching
from benchsuite.errors import UsageError
from benchsuite.files import open_regular
from benchsuite.workers import spread

IMAGES = ("jpg", "jpeg", "png", "webp")
VERSION = 3
"""Of the kept indexes."""


def members_of(tars: Sequence[Path], all_of_them: bool) -> Iterator[tuple[Path, str, int, int, str]]:
    """Tar file, key, offset, size and caption of all images in order; by several processes if all are needed."""
    sizes, watch, done = [tar.stat().st_size for tar in tars], watching.get(), 0
    read = spread(lambda tar: len(_members(tar)), tars, few=8) if all_of_them else tars  # kept in the cache
    for tar, _, size in zip(tars, read, sizes, strict=True):
        members = _members(tar)
        done += size
        watch(done, sum(sizes))
        yield from ((tar, *member) for member in members)


def _members(tar: Path) -> Sequence[tuple[str, int, int, str]]:
    kept = computed_once(f"tar-v{VERSION}-{stamp({'': tar})}", lambda: {"members": _scan(tar)})
    return cast(Sequence[tuple[str, int, int, str]], kept["members"])


def _scan(file: Path) -> list[tuple[str, int, int, str]]:
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
    return [(key, offset, size, captions[key]) for key, (offset, size) in images.items()]


def _ends(stream: Any, offset: int) -> bool:
    """Whether the end-of-file mark of a tar file is there; tarfile itself takes a cut between two members for it."""
    stream.seek(offset)
    return bool(stream.read(tarfile.BLOCKSIZE) == bytes(tarfile.BLOCKSIZE))


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    stream = tar.extractfile(member)
    return stream.read().decode("utf-8") if stream else ""
