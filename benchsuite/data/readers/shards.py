"""Images in tar files, each with its caption or class beside it under the same key. Nothing is unpacked."""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchsuite.data.readers.files import computed_once, json_of, stamp
from benchsuite.errors import UsageError
from benchsuite.files import open_regular

IMAGES = ("jpg", "jpeg", "png", "webp")
VERSION = 4
"""Of the kept indexes."""


def members_of(tar: Path, kinds: Sequence[str]) -> Sequence[tuple[str, int, int, str]]:
    """Key, offset, size and text of each image: the text is in the first of these kinds of member that its key has.

    Of json it is the caption. Gone through once; kept in the cache until the file changes.
    """
    key = f"tar-v{VERSION}-{'-'.join(kinds)}-{stamp({'': tar})}"
    kept = computed_once(key, lambda: {"members": _scan(tar, kinds)})
    return cast(Sequence[tuple[str, int, int, str]], kept["members"])


def _scan(file: Path, kinds: Sequence[str]) -> list[tuple[str, int, int, str]]:
    found: dict[str, dict[str, tarfile.TarInfo]] = {kind: {} for kind in (IMAGES[0], *kinds)}
    images = found[IMAGES[0]]
    try:
        with open_regular(file) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
            for member in tar:
                folder, _, name = member.name.rpartition("/")
                stem, _, ending = name.partition(".")
                ending = ending.lower()
                kind = IMAGES[0] if ending in IMAGES else ending
                if not member.isfile() or not stem or kind not in found:
                    continue
                key = f"{folder}/{stem}" if folder else stem
                if key in found[kind]:
                    raise ValueError(f"{key} has two members .{ending}, or two images")
                found[kind][key] = member
            if not _ends(stream, tar.offset):
                raise tarfile.ReadError("it ends in the middle")
            texts = {key: _text(tar, member) for key, member in found[kinds[0]].items()}
            described = found["json"] if "json" in kinds[1:] else {}
            for key in images.keys() - texts.keys() & described.keys():
                about = json_of(_text(tar, described[key]), f"{file}, {key}.json")
                caption = about.get("caption") or ""
                if not isinstance(caption, str):
                    raise ValueError(f"the caption of {key}.json is no text but a {type(caption).__name__}")
                texts[key] = caption
    except (OSError, tarfile.TarError, UnicodeDecodeError, ValueError, AttributeError) as error:
        raise UsageError(f"{file}: not a complete tar file ({error}).") from error
    if without := [key for key in images if not texts.get(key, "").strip()]:
        what = "a caption" if kinds[0] in ("txt", "json") else "a class"
        there = f"there must be {without[0]}.{' or .'.join(kinds)}"
        raise UsageError(f"{file}, {without[0]}: an image without {what}; {there}.")
    return [(key, member.offset_data, member.size, texts[key]) for key, member in images.items()]


def _ends(stream: Any, offset: int) -> bool:
    """Whether the end-of-file mark of a tar file is there; tarfile itself takes a cut between two members for it."""
    stream.seek(offset)
    return bool(stream.read(tarfile.BLOCKSIZE) == bytes(tarfile.BLOCKSIZE))


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    stream = tar.extractfile(member)
    content = stream.read() if stream else b""
    return _numbers(member.name, content) if member.name.endswith(".npy") else content.decode("utf-8")


def _numbers(name: str, content: bytes) -> str:
    """Those of an array of whole numbers, which may be stored as floats."""
    try:
        values = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        whole = values.astype(np.int64)
        if (whole != values).any():
            raise ValueError("other numbers")
    except Exception as error:  # of many kinds, where a file is damaged
        raise ValueError(f"{name} is no array of whole numbers") from error
    return " ".join(map(str, whole.flatten().tolist()))
