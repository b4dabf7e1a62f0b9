"""Disks that are full or cannot be written to: one line that names the folder, no drafts, and what was there stays."""

import errno
import os
import pwd
import resource
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.commands import exit_code
from support.copies import command, files, in_a_copy, mount, only_linux
from support.made_records import MakeRecord
from support.planned import request_of

from benchsuite.data.cached import made_once
from benchsuite.errors import UsageError
from benchsuite.paths import cache
from benchsuite.records.store import Store

Files = dict[str, bytes]
pytestmark = only_linux
KINDS = {
    "full": "No space left on device. Make room, or ",
    "read-only": "Read-only file system. ",
    "no large files": "File too large. Make room, or ",
}
"""The last needs no rights: the system refuses files of more than ten bytes."""
FILLING = "filling"
each_kind = pytest.mark.parametrize("kind", KINDS)


def on_a_bad_disk(
    kind: str, disk: Path, work: Callable[[], Any], before: Callable[[], object] = lambda: None
) -> tuple[Any, Files, Files]:
    """What the work gives on a disk that was spoilt after `before`, and the files before and after it."""

    def spoilt() -> tuple[Any, Files, Files]:
        if kind != "no large files":
            mount(disk, "size=1m")
        before()
        old = files(disk)
        if kind == "no large files":
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        elif kind == "read-only":
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        else:
            with suppress(OSError), (disk / FILLING).open("wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
        done, new = work(), files(disk)
        new.pop(FILLING, None)
        return done, old, new

    disk.mkdir(exist_ok=True)
    found: tuple[Any, Files, Files] = in_a_copy(spoilt)
    return found


def refused(kind: str, disk: Path, *arguments: object, before: Callable[[], object] = lambda: None) -> None:
    """The command ends in one line, and the disk holds what was there before."""
    (code, told), old, new = on_a_bad_disk(kind, disk, lambda: command(*arguments), before)
    assert (code, told.count("\n")) == (2, 1), told
    assert told.startswith("benchsuite: ")
    assert str(disk) in told
    assert KINDS[kind] in told
    assert "ame a folder that can be written to." in told
    assert new == old


@pytest.fixture
def records(tmp_path: Path, make_sound: MakeRecord) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    Store(folder).write(*make_sound())
    return folder


@each_kind
def test_commands_leave_what_was_there(tmp_path: Path, records: Path, make_sound: MakeRecord, kind: str) -> None:
    disk, old = tmp_path / "disk", tmp_path / "disk" / "old.csv"
    build = ["report", "--results", records, "--report", disk / "pages"]
    refused(kind, disk, *build, before=lambda: command(*build))
    export = ["export", "--all", "--out", old, "--results", records]
    refused(kind, disk, *export, before=lambda: old.write_text("old"))

    def listed() -> None:
        Store(disk).write(*make_sound(0))
        command("verify", disk, "--update")
        Store(disk).write(*make_sound(1))

    refused(kind, disk, "verify", disk, "--update", before=listed)


def test_a_report_that_does_not_fit_leaves_the_old_pages_and_no_drafts(tmp_path: Path, records: Path) -> None:
    """There is room when it begins."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def work() -> tuple[int, str, Files]:
        mount(disk, "size=100k")
        (disk / "index.html").write_text("old")
        return *command("report", "--results", records, "--report", disk), files(disk)

    code, told, left = in_a_copy(work)
    assert (code, told.count("\n")) == (2, 1)
    assert told.startswith(f"benchsuite: --report {disk}: {KINDS['full']}")
    assert left.pop("index.html") == b"old"
    assert all(name.startswith("static/") and not Path(name).name.startswith(".") for name in left), "whole files alone"


@each_kind
def test_a_store_and_the_cache_say_so_and_leave_no_drafts(
    tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """What `repro`, `run` and `tune` write to."""
    disk = tmp_path / "disk"
    monkeypatch.setenv("BENCHSUITE_CACHE", str(disk))
    request = request_of("temo/table1", "smoke")

    def work() -> list[str]:
        store, told = Store(disk), []
        for write in (
            store.require_writable,
            lambda: store.write(*make_record()),
            lambda: store.add_failure(make_record()[0], "killed"),
            lambda: store.add_request(request),
            lambda: store.keep("papers/mine/table1.toml", Path(__file__)),
            lambda: made_once(cache() / "digests" / "a.json", lambda draft: draft.write_text("long enough")),
        ):
            with pytest.raises(UsageError) as caught:
                write()
            told.append(str(caught.value))
        return told

    told, _, left = on_a_bad_disk(kind, disk, work)
    assert left == {}
    assert all(KINDS[kind] in line and str(disk) in line and "\n" not in line for line in told), told
    assert told[-1].startswith(f"cache folder {disk}/digests: {KINDS[kind]}")
    assert told[-1].endswith("et BENCHSUITE_CACHE to a writable one.")


def no_home(number: int) -> pwd.struct_passwd:
    raise KeyError(number)


def test_a_user_without_a_home_is_told_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A container may run under a number that no user has. Older libraries make a folder "~" then."""
    monkeypatch.setattr(pwd, "getpwuid", no_home)
    for name in ("HOME", "XDG_CACHE_HOME", "BENCHSUITE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    for told in ("~/.cache/benchsuite", "~/kept"):
        with pytest.raises(UsageError, match=rf"^cache folder {told}: this user has no home .* Set BENCHSUITE_CACHE "):
            cache()
        monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"~/.cache/{name}")
        monkeypatch.setenv("BENCHSUITE_CACHE", "~/kept")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("BENCHSUITE_CACHE", "kept")
    assert cache() == Path("kept")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_library_that_meets_a_bad_disk_gives_one_line_too(
    monkeypatch: pytest.MonkeyPatch, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(called: object) -> None:
        raise OSError(number, "no", "/logs/worker.log")

    monkeypatch.setattr("benchsuite.cli.application", fail)
    assert exit_code("list", "methods") == 2
    assert capsys.readouterr().err.startswith(f"benchsuite: /logs/worker.log: {os.strerror(number)}. ")
