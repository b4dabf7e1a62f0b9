import os
from pathlib import Path

import pytest

from benchsuite.errors import UsageError
from benchsuite.files import draft_of, require_writable, write_whole


class InterruptedWriteError(Exception):
    pass


@pytest.mark.parametrize("name", ["note.json", "arrays.npz", "plain"])
def test_a_draft_becomes_the_file_and_keeps_its_ending(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("before")
    with draft_of(tmp_path / name) as draft:
        assert (draft.parent, draft.suffix) == (tmp_path, Path(name).suffix)
        draft.write_text("after")
        assert (tmp_path / name).read_text() == "before"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "after")]


def test_two_drafts_of_one_file_are_not_the_same(tmp_path: Path) -> None:
    with draft_of(tmp_path / "note.json") as first, draft_of(tmp_path / "note.json") as second:
        assert first != second
        first.touch()
        second.touch()


def test_a_folder_can_be_a_draft(tmp_path: Path) -> None:
    with draft_of(tmp_path / "build-v1-ab") as draft:
        draft.mkdir()
        (draft / "part").write_text("x")
        assert draft.name.startswith(".build-v1-")
    assert [path.name for path in tmp_path.rglob("*")] == ["build-v1-ab", "part"]


@pytest.mark.parametrize("folder", [True, False])
def test_an_interrupted_draft_leaves_nothing(tmp_path: Path, folder: bool) -> None:
    def write() -> None:
        with draft_of(tmp_path / "whole") as draft:
            draft.mkdir() if folder else draft.touch()
            raise InterruptedWriteError

    with pytest.raises(InterruptedWriteError):
        write()
    assert list(tmp_path.iterdir()) == []


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


def test_a_file_is_on_disk_before_it_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sync, seen = os.fsync, []

    def noting(handle: int) -> None:
        sync(handle)
        seen.append((tmp_path / "record.json").exists())

    monkeypatch.setattr(os, "fsync", noting)
    write_whole(tmp_path / "record.json", b"x")
    assert seen == [False]


def test_a_folder_that_cannot_be_written_to_is_refused_by_its_option(tmp_path: Path) -> None:
    require_writable(tmp_path / "new" / "folder", "--results")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"^--report .*file/pages: Not a directory\. Name a folder that can"):
        require_writable(tmp_path / "file" / "pages", "--report")
