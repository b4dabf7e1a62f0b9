"""Locks: of all processes that read, change and write a file, one at a time.

A lock is the operating system's (flock) on a file that stays. It ends with the process that holds it, however that
ends. Containers that share a folder share its locks; so do machines whose shared file system has locks at all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.files import writing_to

SECONDS = 60.0
"""How long to wait: a file is changed in a moment."""
FOR_EVER = -1.0
ENDING = ".lock"


class BusyError(UsageError):
    """Another process has the lock."""


def lock_of(file: Path) -> Path:
    """The lock of a file that several processes change."""
    return file.with_name(f".{file.name}{ENDING}")


def is_lock(file: Path) -> bool:
    """Whether it is a lock of another file: it stays, and holds nothing."""
    return file.name.startswith(".") and file.name.endswith(ENDING)


@contextmanager
def locked(file: Path, seconds: float = SECONDS) -> Iterator[None]:
    """Hold the lock of that name, in a folder that is made if it is missing."""
    from filelock import FileLock, Timeout  # what reads results does without it

    lock = FileLock(file)
    with writing_to(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=seconds)
        except Timeout:
            waited = f" after {seconds:g} s" if seconds else ""
            raise BusyError(
                f"{file}: another process still holds this lock{waited}. Let it end, or end it, and repeat the command."
            ) from None
        except NotImplementedError:
            raise UsageError(f"{file}: this file system has no locks. Take a folder on one that has.") from None
    try:
        yield
    finally:
        lock.release()
