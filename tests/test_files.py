import os
from pathlib import Path

import pytest

from benchsuite.errors import UsageError
from benchsuite.files import require_writable, write_whole


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
