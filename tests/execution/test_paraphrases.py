"""Paraphrases that have a digest of their own: only runs that read them depend on them."""

import json
from pathlib import Path

import pytest
from support.real_files import write_pairs

from benchsuite.analysis.pairing import pairable
from benchsuite.errors import RunError
from benchsuite.execution.measure import measure
from benchsuite.planning.plan import Run, plan_under
from benchsuite.planning.recipe import read_recipe
from benchsuite.setup import Data, Protocol

PROTOCOLS = {"retrieval": Protocol(task="retrieval", options={"split": "validation"})}


def write(folder: Path, words: str) -> None:
    rows = [json.dumps({"id": i, "paraphrases": [f"{words}, number {i}"]}) for i in range(12)]
    (folder / "paraphrases.jsonl").write_text("\n".join(rows) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_pairs(write_pairs(tmp_path / "cc3m", kind="json"), 4, "validation", kind="json")


def planned(folder: Path, method: str) -> Run:
    recipe = read_recipe("scenes-smoke")
    training = recipe.training.model_copy(update={"batch": 4, "steps": 2})
    changes = {"data": Data(name="cc3m", options={"size": 32}), "training": training, "protocols": PROTOCOLS}
    return plan_under(recipe.model_copy(update=changes), method, "RN50", 0, {}, {"cc3m": str(folder)})


def test_runs_that_read_no_paraphrases_stay_comparable_when_some_are_added(folder: Path) -> None:
    before = planned(folder, "infonce")
    record = measure(before)[0]
    write(folder, "other words")
    again, reader = planned(folder, "infonce"), planned(folder, "amclr")
    assert again.run_id == before.run_id
    read = measure(reader)[0]
    assert read.run_id == reader.run_id
    assert (read.setup_id, read.digests["words"]) == (record.setup_id, record.digests["words"])
    assert "paraphrases" not in record.digests
    assert pairable(record, read) == ""
    write(folder, "further words")
    assert planned(folder, "infonce").run_id == before.run_id
    assert planned(folder, "amclr").run_id != reader.run_id


def test_paraphrases_that_change_after_the_plan_end_the_run_that_reads_them(folder: Path) -> None:
    write(folder, "other words")
    runs = [planned(folder, method) for method in ("amclr", "infonce")]
    write(folder, "further words")
    with pytest.raises(RunError, match="cc3m: the paraphrases have changed since the run was planned"):
        measure(runs[0])
