"""Writing files and folders whole: a draft beside the place, synced to disk, that takes the place's name.

A draft has a name of its own, whoever else writes there: processes in two containers may have equal numbers. What a
killed process leaves begins with a dot, and is read by nobody. Errors name the folder and what to do. What is stored is
read only if it is a regular file of limited size: anyone may have put it there.

Of all processes that read, change and write a file, one at a time holds its lock, the operating system's (flock) on a
file that stays. It ends with the process that holds it, however that ends. Containers that share a folder share its
locks; so do machines whose shared file system has locks at all.
"""

import errno
import hashlib
import lzma
import os
import re
import shutil
import stat
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Self
from uuid import uuid4

from benchsuite.errors import UsageError

DRAFT = re.compile(r"\.(.+)-[0-9a-f]{32}")
ANOTHER = "name a folder that can be written to"
"""What a user can do about a folder, in most cases."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What an operating system says where there is no room: on the disk, of the user, or of one file."""
OF_WRITING = FULL | {errno.EROFS}
"""Errors that only writing has."""
MEGABYTE = 1 << 20
LARGEST = 8 * MEGABYTE
"""Of a stored file of text: what a parser makes of more could fill the memory. A large record has 0.1 MB."""


class WriteError(UsageError, OSError):
    """A folder could not be written to. `strerror` is the reason alone."""

    @classmethod
    def of(cls, where: str, error: OSError, remedy: str = ANOTHER) -> Self:
        """Of the operating system's error. Libraries drop its number where a disk is full."""
        reason = os.strerror(error.errno) if error.errno else str(error).partition("\n")[0]
        room = error.errno in FULL or not error.errno
        advice = f"Make room, or {remedy}" if room else remedy[0].upper() + remedy[1:]
        made = cls(f"{where}: {reason}. {advice}.")
        made.errno, made.strerror = error.errno, reason
        return made

    @property
    def lines(self) -> Sequence[str]:
        return [str(self.args[0])]  # an OSError's own text begins with its number


def reason_of(error: BaseException) -> str:
    """What the operating system says of it, without number and path; of other errors their text."""
    return str(getattr(error, "strerror", None) or error)


@contextmanager
def writing_to(
    folder: Path, what: str = "", remedy: str = ANOTHER, numbers: Container[int] | None = None
) -> Iterator[None]:
    """Inside, errors of the operating system are of this folder; `what` comes before its name.

    With `numbers` only these are: of what reads, too.
    """
    try:
        yield
    except OSError as error:
        if not (numbers is None or error.errno in numbers or isinstance(error, WriteError)):
            raise
        raise WriteError.of(f"{what} {folder}".strip(), error, remedy) from error


def write_whole(path: Path, content: bytes, overwrite: bool = True, sync: bool = True) -> None:
    """Write a file atomically, in a folder that is made if it is missing. Without `overwrite`, an existing file stays.

    Without `sync` a power cut may leave an older file, or none.
    """
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with drafted(path) as draft:
            with draft.open("wb") as file:
                file.write(content)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            if overwrite:
                draft.replace(path)
            else:
                _move_unless_there(draft, path)
        if sync:
            sync_folder(path.parent)


def write_named(path: Path, option: str, content: bytes) -> None:
    """A file that the user named: whole; of a link what it leads to. A device or a pipe has no drafts beside it."""
    if path.is_relative_to("/dev") or (path.exists() and not path.is_file()):
        with writing_to(path, option):
            path.write_bytes(content)
    else:
        write_whole(path.resolve(), content)


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A name beside `path` that nobody else has, for a file or a folder. What has it at the end is removed."""
    draft = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        yield draft
    finally:
        remove(draft)


def drafts_in(folder: Path) -> Iterator[tuple[Path, Path]]:
    """What killed processes left in a folder, each with the file that it was to become."""
    for draft in folder.glob(".*"):
        if found := DRAFT.fullmatch(draft.name):
            yield draft, folder / found[1]


def put(draft: Path, path: Path) -> None:
    """Give a draft, a file or a folder, the name of its place; its content, then the name, are on the disk."""
    for file in [draft] if draft.is_file() else [file for file in draft.rglob("*") if file.is_file()]:
        with file.open("rb") as content:
            os.fsync(content.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where its file system can say that they are."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in (*FULL, errno.EIO):
            raise


def remove(draft: Path) -> None:
    """A file or a folder, if it is there; what cannot be removed stays."""
    if draft.is_dir() and not draft.is_symlink():
        shutil.rmtree(draft, ignore_errors=True)
    with suppress(OSError):
        draft.unlink()


def read_stored(path: Path, at_most: int = LARGEST) -> bytes:
    """The content of a stored file, which anyone may have put there; an OSError says why it is not read.

    Asked before it is opened: a device or a pipe has no end, or never answers, and a folder is no file.
    """
    size = require_stored(path, at_most)
    with path.open("rb") as file:
        return file.read(size)


def unpacked(content: bytes, at_most: int) -> bytes:
    """What .xz holds, at most so many bytes; a ValueError otherwise. What is not packed is as it is."""
    if not content.startswith(b"\xfd7zXZ\0"):
        return content
    try:
        packed = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 27)  # beside what is unpacked; `xz -9` needs half
        whole = packed.decompress(content, at_most)
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from error
    if not packed.eof or packed.unused_data:
        raise ValueError(f"cut off, with more behind it, or more than {at_most:,} bytes unpacked")
    return whole


def require_stored(path: Path, at_most: int) -> int:
    """The size of a regular file of limited size; an OSError for anything else."""
    size = require_regular(path)
    if size > at_most:
        raise OSError(errno.EOVERFLOW, f"{size:,} bytes; at most {at_most:,} are read", str(path))
    return size


def require_regular(path: Path | str) -> int:
    """The size of a regular file; an OSError for anything else."""
    status = os.stat(path)  # noqa: PTH116 - for millions of files
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return status.st_size


def open_regular(path: Path) -> BufferedReader:
    """A regular file of any size, to read: the way to open what a user named. A pipe would wait for ever."""
    require_regular(path)
    return path.open("rb")


def packaged(name: str) -> str:
    """The text of a file that comes with the package, by its path in it."""
    return Path(__file__).parent.joinpath(name).read_text("utf-8")


def require_writable(folder: Path, option: str) -> None:
    """Make the folder. Fail now rather than after an hour of work; `option` is the option that names the folder."""
    with writing_to(folder, option):
        folder.mkdir(parents=True, exist_ok=True)
        with drafted(folder / "writable") as probe:
            probe.write_bytes(b"full disks take names, but nothing more")


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
    with open_regular(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


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
