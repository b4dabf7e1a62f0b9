"""Atomic writes, bounded reads, the digest of a file, and a check that a folder is writable."""

import errno
import hashlib
import os
import stat
from pathlib import Path
from uuid import uuid4

from benchsuite.errors import UsageError

MEGABYTE = 1 << 20
LARGEST = 8 * MEGABYTE
"""Of a stored file of text: what a parser makes of more could fill the memory. A large record has 0.1 MB."""


def write_whole(path: Path, content: bytes, overwrite: bool = True) -> None:
    """Write a file atomically, synced to disk. Without `overwrite`, an existing file stays."""
    draft = _draft(path)
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            draft.replace(path)
        else:
            _move_unless_there(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read_stored(path: Path, at_most: int = LARGEST) -> bytes:
    """The content of a stored file, which anyone may have put there; an OSError says why it is not read.

    Asked before it is opened: a device or a pipe has no end, or never answers, and a folder is no file.
    """
    size = require_stored(path, at_most)
    with path.open("rb") as file:
        return file.read(size)


def require_stored(path: Path, at_most: int) -> int:
    """The size of a regular file of limited size; an OSError for anything else."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "no regular file", str(path))
    if status.st_size > at_most:
        raise OSError(errno.EFBIG, f"{status.st_size:,} bytes; at most {at_most:,} are read", str(path))
    return status.st_size


def require_writable(folder: Path, option: str) -> None:
    """Make the folder. Fail now rather than after an hour of work; `option` is the option that names the folder."""
    probe = folder / f".writable-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{option} {folder}: {reason}. Name a folder that can be written to.") from error


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}-{uuid4().hex}")


def _move_unless_there(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        if not path.exists():
            draft.replace(path)


def sha256_of(file: Path, at_most: int | None = None) -> str:
    """Of a file too large for the memory; `at_most`, in bytes, is for files that anyone may have put there."""
    if at_most is not None:
        require_stored(file, at_most)
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
