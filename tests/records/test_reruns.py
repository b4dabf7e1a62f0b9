"""Stored second trainings: what they hold, and files that somebody changed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.edited import Change, edit

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.names import RERUNS
from benchsuite.records.reruns import Rerun, read_reruns, write_rerun
from benchsuite.records.schema import Record
from benchsuite.verify.audit import audit_folder

Make = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def stored(tmp_path: Path, make_sound: Make) -> Path:
    record, again = make_sound(0)[0], make_sound(0, created="2026-05-05T00:00:00+00:00")[0]
    return write_rerun(tmp_path, Rerun.of(record, again))


def test_it_holds_the_numbers_of_the_second_training(tmp_path: Path, stored: Path, make_sound: Make) -> None:
    reruns, errors = read_reruns(tmp_path)
    assert not errors
    (rerun,) = reruns.values()
    record = make_sound(0)[0]
    assert list(reruns) == [f"{RERUNS}/{stored.name}"]
    assert stored.name.startswith(f"{record.run_id}-")
    assert rerun.values() == record.values()
    assert (rerun.record, rerun.digests, rerun.environment) == (record.digest, record.digests, record.environment)
    assert rerun.created == "2026-05-05T00:00:00+00:00"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c["numbers"].update({"retrieval.i2t_r1": 0.3}), "not what was sealed"),
        (lambda c: c.update(record="0" * 64), "not what was sealed"),
        (lambda c: c.update(more=1), "not what was sealed"),
    ],
)
def test_a_changed_one_is_named(tmp_path: Path, stored: Path, change: Change, says: str) -> None:
    edit(stored, change)
    reruns, (error,) = read_reruns(tmp_path)
    assert not reruns
    assert says in str(error)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["environment"].update(packages=[]),
        lambda c: c.update(rerun_format=2),
        lambda c: c["numbers"].update(x="high"),
        lambda c: c.pop("record"),
    ],
)
def test_a_seal_makes_no_sense_of_what_has_none(tmp_path: Path, stored: Path, change: Change) -> None:
    edit(stored, change, sealed=True)
    reruns, (error,) = read_reruns(tmp_path)
    assert not reruns
    assert "not a valid second training" in str(error)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"numbers": NaN}'])
def test_a_damaged_one_is_one_line(tmp_path: Path, stored: Path, text: str) -> None:
    stored.write_text(text)
    _, (error,) = read_reruns(tmp_path)
    assert len(error.lines) == 1


def test_the_manifest_lists_them(tmp_path: Path, stored: Path) -> None:
    audit: Any = audit_folder(tmp_path, RULES)
    assert list(audit.files) == [f"{RERUNS}/{stored.name}"]
    assert json.loads(stored.read_text())["rerun_format"] == 1
