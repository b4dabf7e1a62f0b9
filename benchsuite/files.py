"""Atomic writes, the digest of a file, and a check that a folder is writable."""

import hashlib
import os
from pathlib import Path
from uuid import uuid4

from benchsuite.errors import UsageError


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


def sha256_of(file: Path) -> str:
    """Of a file of any size."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
