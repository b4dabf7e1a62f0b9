import errno
import os
import pickle
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchsuite.errors import UsageError
from benchsuite.files import (
    WriteError,
    drafted,
    put,
    read_stored,
    reason_of,
    require_writable,
    sync_folder,
    write_whole,
    writing_to,
)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_is_there_stays_unless_it_may_be_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError("no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    file = tmp_path / "record.json"
    for content in (b"first", b"second"):
        write_whole(file, content, overwrite=False)
    assert file.read_bytes() == b"first"
    write_whole(file, b"third")
    assert file.read_bytes() == b"third"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_is_on_disk_before_it_appears_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, seen = os.fsync, []

    def noting(handle: int) -> None:
        sync(handle)
        seen.append((tmp_path / "record.json").exists())

    monkeypatch.setattr(os, "fsync", noting)
    write_whole(tmp_path / "record.json", b"x")
    assert seen == [False, True]


def test_a_folder_that_cannot_be_written_to_is_refused_by_its_option(tmp_path: Path) -> None:
    require_writable(tmp_path / "new" / "folder", "--results")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"^--report .*file/pages: Not a directory\. Name a folder that can"):
        require_writable(tmp_path / "file" / "pages", "--report")


@pytest.fixture
def small_files() -> Iterator[int]:
    """The system refuses files of more bytes than this, as a full disk does: it needs no rights and no disk."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE), 1000
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    yield most
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("overwrite", [True, False])
def test_what_does_not_fit_leaves_no_draft_and_the_old_file(tmp_path: Path, small_files: int, overwrite: bool) -> None:
    file = tmp_path / "MANIFEST.json"
    write_whole(file, b"old")
    with pytest.raises(WriteError) as caught:
        write_whole(file, bytes(small_files + 1), overwrite)
    assert str(caught.value) == f"{tmp_path}: File too large. Make room, or name a folder that can be written to."
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]


def test_a_folder_on_a_full_disk_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Full disks take names of files, and no content."""

    def full(self: Path, content: bytes) -> int:
        self.touch()
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageError, match=r"^--results .*: No space left on device. Make room, or name a folder that"):
        require_writable(tmp_path, "--results")
    assert list(tmp_path.iterdir()) == []


def test_two_processes_of_one_number_may_ask_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers that share a folder have equal process numbers."""
    write = Path.write_bytes

    def meanwhile(self: Path, content: bytes) -> int:
        monkeypatch.setattr(Path, "write_bytes", write)
        written = self.write_bytes(content)
        require_writable(tmp_path, "--results")
        return written

    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(Path, "write_bytes", meanwhile)
    require_writable(tmp_path, "--results")


def test_an_error_of_writing_is_a_usage_error_and_one_of_the_system(tmp_path: Path) -> None:
    """It crosses processes, and handlers of OSError find its number and reason."""
    with pytest.raises(OSError, match="Read-only") as caught, writing_to(tmp_path, "cache folder", "set THIS"):
        raise OSError(errno.EROFS, "read")
    error = caught.value
    assert isinstance(error, UsageError)
    assert (error.errno, error.strerror) == (errno.EROFS, "Read-only file system")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error) == f"cache folder {tmp_path}: Read-only file system. Set THIS."


def test_what_only_reads_is_not_taken_for_writing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="picture"), writing_to(tmp_path, numbers={errno.ENOSPC}):
        raise FileNotFoundError(errno.ENOENT, "no", "picture.png")


@pytest.mark.parametrize("folder", [True, False])
def test_a_draft_is_synced_with_all_in_it_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: bool
) -> None:
    place, seen = tmp_path / "made", []
    sync = os.fsync

    def noting(handle: int) -> None:
        sync(handle)
        seen.append((Path(f"/proc/self/fd/{handle}").readlink().name, place.exists()))

    monkeypatch.setattr(os, "fsync", noting)
    with drafted(place) as draft:
        if folder:
            (draft / "deep").mkdir(parents=True)
        (draft / "deep" / "a" if folder else draft).write_bytes(b"x")
        name = "a" if folder else draft.name
        put(draft, place)
    assert seen == [(name, False), (tmp_path.name, True)]
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize(("number", "told"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_file_system_may_not_sync_folders_and_a_broken_disk_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: bool
) -> None:
    def refuse(handle: int) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(os, "fsync", refuse)
    if told:
        with pytest.raises(OSError, match="no"):
            sync_folder(tmp_path)
    else:
        sync_folder(tmp_path)


def test_a_reason_is_what_the_system_says_without_number_and_path() -> None:
    assert reason_of(OSError(errno.ENOSPC, "No space left on device", "/a/path")) == "No space left on device"
    assert reason_of(OSError("no number")) == "no number"
    assert reason_of(ValueError("embedded null byte")) == "embedded null byte"


def test_a_stored_file_is_regular_and_of_limited_size(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"12345")
    (tmp_path / "link").symlink_to(file)
    assert read_stored(file, 5) == read_stored(tmp_path / "link", 5) == b"12345"
    with pytest.raises(OSError, match="5 bytes; at most 4"):
        read_stored(file, 4)
    for other in (tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match="no regular file"):
            read_stored(other, 5)
