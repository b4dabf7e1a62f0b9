"""Disks that are full or cannot be written to: one line that names the folder, no drafts, and what was there stays."""

import errno
import os
import pwd
import resource
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.commands import exit_code
from support.copies import command, files, in_a_copy, mount, only_linux

from benchsuite.data.cached import made_once
from benchsuite.errors import UsageError
from benchsuite.paths import cache
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

Make = Callable[..., tuple[Record, bytes]]
pytestmark = only_linux
KINDS = {
    "full": "No space left on device. Make room, or ",
    "read-only": "Read-only file system. ",
    "no large files": "File too large. Make room, or ",
}
"""The last needs no rights: the system refuses files of more than ten bytes."""
FILLING = "filling"


def spoil(kind: str, disk: Path) -> None:
    """Of a disk that was mounted, with what it holds."""
    if kind == "no large files":
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
    elif kind == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    else:
        with suppress(OSError), (disk / FILLING).open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass


def on_a_bad_disk(kind: str, disk: Path, before: Callable[[], object], *arguments: object) -> None:
    """The command is refused in one line, and the disk holds what was there before."""

    def work() -> tuple[int, str, dict[str, bytes], dict[str, bytes]]:
        if kind != "no large files":
            mount(disk, "size=1m")
        before()
        old = files(disk)
        spoil(kind, disk)
        code, told = command(*arguments)
        new = files(disk)
        new.pop(FILLING, None)
        return code, told, old, new

    disk.mkdir(exist_ok=True)
    code, told, old, new = in_a_copy(work)
    assert (code, told.count("\n")) == (2, 1), told
    assert told.startswith("benchsuite: ")
    assert str(disk) in told
    assert KINDS[kind] in told
    assert "ame a folder that can be written to." in told
    assert new == old


@pytest.fixture
def records(tmp_path: Path, make_sound: Make) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    Store(folder).write(*make_sound())
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_leaves_the_old_pages(tmp_path: Path, records: Path, kind: str) -> None:
    disk = tmp_path / "disk"
    build = ["report", "--results", records, "--report", disk / "pages"]
    on_a_bad_disk(kind, disk, lambda: command(*build), *build)


def test_a_report_that_does_not_fit_leaves_the_old_pages_and_no_drafts(tmp_path: Path, records: Path) -> None:
    """There is room when it begins."""
    disk = tmp_path / "disk"
    disk.mkdir()
    build = ["report", "--results", records, "--report", disk]

    def work() -> tuple[int, str, dict[str, bytes]]:
        mount(disk, "size=100k")
        (disk / "index.html").write_text("old")
        return *command(*build), files(disk)

    code, told, left = in_a_copy(work)
    assert (code, told) == (
        2,
        f"benchsuite: --report {disk}: No space left on device. Make room, or name a folder that can be written to.\n",
    )
    assert left == {"index.html": b"old"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_file_and_an_export_leave_the_old_file(tmp_path: Path, records: Path, kind: str) -> None:
    disk = tmp_path / "disk"
    for arguments in (["report", "--single-file"], ["export", "--all", "--out"]):
        file = disk / "old.csv"
        on_a_bad_disk(kind, disk, lambda: file.write_text("old"), *arguments, file, "--results", records)  # noqa: B023


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_leaves_the_old_manifest(tmp_path: Path, make_sound: Make, kind: str) -> None:
    disk = tmp_path / "disk"

    def before() -> None:
        Store(disk).write(*make_sound(0))
        command("verify", disk, "--update")
        Store(disk).write(*make_sound(1))

    on_a_bad_disk(kind, disk, before, "verify", disk, "--update")


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_says_so_and_leaves_no_drafts(tmp_path: Path, make_record: Make, kind: str) -> None:
    """What `repro`, `run` and `tune` write to."""
    disk = tmp_path / "disk"
    request = TableRequest(
        table="temo/table1", scale="smoke", recipe="r", track="scenes", description="long enough", tuned={},
        backbones={}, temperature_factor=1.0, rows=[],
    )  # fmt: skip

    def work() -> tuple[list[str], dict[str, bytes]]:
        if kind != "no large files":
            mount(disk, "size=100k")
        store = Store(disk)
        spoil(kind, disk)
        told = []
        for write in (
            store.require_writable,
            lambda: store.write(*make_record()),
            lambda: store.add_failure("f00d", "killed"),
            lambda: store.add_request(request),
            lambda: store.keep("papers/mine/table1.toml", Path(__file__)),
        ):
            with pytest.raises(UsageError) as caught:
                write()
            told.append(str(caught.value))
        left = files(disk)
        left.pop(FILLING, None)
        return told, left

    disk.mkdir()
    told, left = in_a_copy(work)
    assert left == {}
    assert all(KINDS[kind] in line and str(disk) in line and "\n" not in line for line in told), told


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_names_its_variable_and_keeps_no_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setenv("BENCHSUITE_CACHE", str(disk))

    def work() -> tuple[str, dict[str, bytes]]:
        if kind != "no large files":
            mount(disk, "size=100k")
        spoil(kind, disk)
        with pytest.raises(UsageError) as caught:
            made_once(cache() / "digests" / "a.json", lambda draft: draft.write_text("long enough"))
        left = files(disk)
        left.pop(FILLING, None)
        return str(caught.value), left

    told, left = in_a_copy(work)
    assert told.startswith(f"cache folder {disk}/digests: {KINDS[kind]}")
    assert told.endswith("et BENCHSUITE_CACHE to a writable one.")
    assert left == {}


def no_home(number: int) -> pwd.struct_passwd:
    raise KeyError(number)


def test_a_user_without_a_home_is_told_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A container may run under a number that no user has. Older libraries make a folder "~" then."""
    monkeypatch.setattr(pwd, "getpwuid", no_home)
    for name in ("HOME", "XDG_CACHE_HOME", "BENCHSUITE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    message = r"^cache folder ~/.cache/benchsuite: this user has no home .* Set BENCHSUITE_CACHE to a writable one\.$"
    with pytest.raises(UsageError, match=message):
        cache()
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"~/.cache/{name}")
    with pytest.raises(UsageError, match=message):
        cache()
    monkeypatch.setenv("BENCHSUITE_CACHE", "~/kept")
    with pytest.raises(UsageError, match=r"^cache folder ~/kept: this user has no home folder"):
        cache()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("BENCHSUITE_CACHE", "kept")
    assert cache() == Path("kept")


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BENCHSUITE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "deep" / "caches"))
    assert cache() == tmp_path / "deep" / "caches" / "benchsuite"
    assert os.listdir(tmp_path) == ["deep"]  # noqa: PTH208


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_library_that_meets_a_bad_disk_gives_one_line_too(
    monkeypatch: pytest.MonkeyPatch, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(called: object) -> None:
        raise OSError(number, "no", "/logs/worker.log")

    monkeypatch.setattr("benchsuite.cli.application", fail)
    assert exit_code("list", "methods") == 2
    assert capsys.readouterr().err.startswith(f"benchsuite: /logs/worker.log: {os.strerror(number)}. ")
