"""Checkpoints lie in a results folder and disturb nothing there."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.made_records import MakeRecord

from benchsuite.records.checkpoints import FOLDER, MARKER, checkpoints_in, folder_of, latest_step, place
from benchsuite.records.schema import Record, Resumption, content_digest
from benchsuite.records.store import Store
from benchsuite.verify.audit import audit_folder
from benchsuite.verify.manifest import check_manifest


def put(results: Path, run_id: str, *steps: int) -> None:
    """Checkpoints of a run, and what a killed process left."""
    for step in steps:
        place(folder_of(results, run_id), step).mkdir(parents=True)
        (place(folder_of(results, run_id), step) / MARKER).write_text("{}")
    (folder_of(results, run_id) / ".draft-00000009").mkdir()
    (folder_of(results, run_id) / "lock").touch()


def test_neither_reading_nor_verifying_a_folder_looks_at_them(
    sound_folder: Callable[[int], Path],
) -> None:
    folder = sound_folder(2)
    without = audit_folder(folder, {})
    put(folder, "0123456789abcdef", 3)
    within = audit_folder(folder, {})
    check_manifest(within)
    check_manifest(without)
    assert (within.problems, within.notes) == (without.problems, without.notes)
    assert len(Store(folder).read().records) == 2
    assert not Store(folder).read().foreign


def test_they_go_when_their_record_is_stored_and_others_stay(tmp_path: Path, make_record: MakeRecord) -> None:
    store, (one, ranks), (other, more) = Store(tmp_path), make_record(0), make_record(1)
    put(tmp_path, one.run_id, 1, 2)
    put(tmp_path, other.run_id, 5)
    store.write(one, ranks)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [other.run_id]
    store.write(other, more)
    assert not (tmp_path / FOLDER).exists()


def test_the_latest_is_that_of_the_most_steps(tmp_path: Path) -> None:
    put(tmp_path, "run", 90, 1000, 200)
    assert [path.name for path in checkpoints_in(folder_of(tmp_path, "run"))] == [
        "step-00001000",
        "step-00000200",
        "step-00000090",
    ]
    assert latest_step(tmp_path, "run") == 1000
    assert latest_step(tmp_path, "another") is None


@pytest.mark.parametrize("resumptions", [[], [Resumption(step=3, from_processes=2, to_processes=1)]])
def test_a_record_says_where_it_went_on_and_nothing_if_nowhere(
    make_record: MakeRecord, resumptions: list[Resumption]
) -> None:
    plain = make_record()[0]
    record = make_record(resumptions=resumptions)[0]
    content = json.loads(json.dumps(record.as_json()))
    assert ("resumptions" in content) == bool(resumptions)
    assert (record.digest == plain.digest) == (not resumptions)
    assert record.run_id == plain.run_id
    assert content_digest(content) == record.digest
    assert Record.model_validate(content) == record
