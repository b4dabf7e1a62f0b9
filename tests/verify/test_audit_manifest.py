import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.edited import edit, file_of, metrics
from support.made_records import MakeRecord

from benchsuite.errors import UsageError
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.names import MANIFEST
from benchsuite.records.store import Store
from benchsuite.verify.audit import Audit, audit_folder
from benchsuite.verify.manifest import check_base, check_manifest, update_manifest


@pytest.fixture
def folder(sound_folder: Callable[[int], Path]) -> Path:
    """Three sound records."""
    return sound_folder(3)


def checked(folder: Path) -> Audit:
    """Also against its manifest."""
    audit = audit_folder(folder, RULES)
    check_manifest(audit)
    return audit


def updated(folder: Path) -> list[str]:
    """What keeps the manifest from being written."""
    audit = audit_folder(folder, RULES)
    update_manifest(audit)
    return [problem.message for problem in audit.problems]


def test_a_folder_without_a_manifest_says_so(folder: Path) -> None:
    audit = checked(folder)
    assert audit.problems == []
    assert [note.file for note in audit.notes] == [MANIFEST]


@pytest.fixture
def listed(folder: Path) -> Path:
    """The folder, with its manifest."""
    assert updated(folder) == checked(folder).problems == []
    return folder


def test_a_removed_a_replaced_and_an_unlisted_record_are_found(listed: Path, make_sound: MakeRecord) -> None:
    gone = file_of(listed, 0)
    gone.unlink()
    other, ranks = make_sound(1, cost={"seconds": 9.0})
    file_of(listed, 1).unlink()
    replaced, new = Store(listed).write(other, ranks), Store(listed).write(*make_sound(5))
    assert audit_folder(listed, RULES).problems == []
    messages = {problem.file: problem.message for problem in checked(listed).problems}
    assert "another record than the one listed" in messages.pop(replaced.name)
    assert messages == {gone.name: "listed in MANIFEST.json, but gone", new.name: "not listed in MANIFEST.json"}


def test_an_earlier_manifest_finds_what_was_dropped_from_folder_and_manifest(listed: Path, tmp_path: Path) -> None:
    base = shutil.copy(listed / MANIFEST, tmp_path / "base.json")
    file_of(listed, 0).unlink()
    assert updated(listed) == []
    audit = checked(listed)
    assert audit.problems == []
    check_base(audit, base)
    (lost,) = audit.problems
    assert "but gone" in lost.message
    with pytest.raises(UsageError, match="no such file"):
        check_base(audit, tmp_path / "none.json")


def test_an_update_lists_what_is_there_and_names_what_is_gone(listed: Path, make_sound: MakeRecord) -> None:
    Store(listed).write(*make_sound(5))
    (gone := file_of(listed, 0)).unlink()
    audit = audit_folder(listed, RULES)
    update_manifest(audit)
    assert audit.notes[-1].message == f"written: 1 added, {gone.name} removed"
    assert checked(listed).problems == []
    assert len(json.loads((listed / MANIFEST).read_text())["files"]) == 3


def test_nothing_is_listed_while_something_is_wrong(folder: Path) -> None:
    edit(file_of(folder, 0), lambda c: metrics(c).update(i2t_r1=0.3))
    assert updated(folder)[-1] == "not updated"
    assert not (folder / MANIFEST).exists()


def test_an_edited_manifest_is_a_problem_and_not_the_end(listed: Path) -> None:
    file = listed / MANIFEST
    file.write_text(file.read_text().replace("file_format", "format"))
    (problem,) = checked(listed).problems
    assert (problem.file, "file_format None" in problem.message) == (MANIFEST, True)
