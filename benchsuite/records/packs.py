"""Records in packs, as published ones are: `tar -cJf NAME.tar.xz *-s*.json` in a results folder.

A packed record is as it was written, under its own name, and is addressed as if it lay in the folder. A third of the
room of records that are packed one by one: most of what two say is the same.
"""

import io
import tarfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from benchsuite.files import LARGEST, MEGABYTE, read_stored, reason_of, unpacked

PACK = ".tar.xz"
LARGEST_PACK = 64 * MEGABYTE
"""Unpacked; a thousand records have 12."""


def packs_in(folder: Path) -> list[Path]:
    """In order, without drafts."""
    return sorted(file for file in folder.glob(f"*{PACK}") if not file.name.startswith("."))


def packed_in(folder: Path) -> dict[str, Path]:
    """The pack of each packed file, by the file's name; packs that cannot be read are left out.

    Of several packs with one name the first.
    """
    return {name: pack for pack in reversed(packs_in(folder)) for name in _readable(pack)}


def pack_of(file: Path, packs: Mapping[str, Path] | None = None) -> Path | None:
    """The pack that a file lies in; None if there is such a file, or none at all.

    `packs` are those of its folder, if they are known.
    """
    return None if file.exists() else (packed_in(file.parent) if packs is None else packs).get(file.name)


def is_stored(file: Path) -> bool:
    """Whether there is such a file, or a packed one."""
    return file.exists() or pack_of(file) is not None


def read_pack(pack: Path) -> Mapping[str, bytes]:
    """The files in a pack by name; a ValueError says why it cannot be read."""
    try:
        status = pack.stat()
        return _read(pack, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise ValueError(f"it cannot be read ({reason_of(error)})") from error


def _readable(pack: Path) -> Mapping[str, bytes]:
    try:
        return read_pack(pack)
    except ValueError:  # what reads the folder names it
        return {}


@lru_cache(maxsize=64)
def _read(pack: Path, changed: int, size: int) -> Mapping[str, bytes]:
    """As it was at that time; a pack is read once, its records one by one."""
    content = unpacked(read_stored(pack), LARGEST_PACK)
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            return dict(_members(archive))
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(f"not a whole tar archive ({error})") from error


def _members(archive: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in archive:
        file = archive.extractfile(member) if member.isreg() and not member.issparse() else None
        if file is None or "/" in member.name:
            raise ValueError(f"{member.name} in it is no file of a folder")
        if member.size > LARGEST:
            raise ValueError(f"{member.name} in it has {member.size:,} bytes; at most {LARGEST:,} are read")
        yield member.name, file.read()
