"""The threads of a run follow from the command, not from what is stored already."""

import os
from pathlib import Path

import pytest
from support import tiny_tuning
from support.commands import exit_code

from benchsuite.folders import use_folders
from benchsuite.planning.chosen_trials import Trials
from benchsuite.planning.plan import plan_table
from benchsuite.planning.trial_runs import content_of
from benchsuite.records.names import find_run
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.records.trials import add_trials
from benchsuite.work.trials import TrialWork

pytestmark = pytest.mark.slow

REPRO = ("repro", tiny_tuning.NAME, "--scale", "latents", "--tables", "own", "--rows", "TS")


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of eight cores."""
    use_folders([tiny_tuning.own_folder(tmp_path / "own")])
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.chdir(tmp_path)


def records() -> dict[str, Record]:
    return dict(Store(Path("runs")).read().records)


def test_a_run_that_is_done_alone_computes_with_as_many_threads_as_before() -> None:
    command = (*REPRO, "--trials", "0", "--replicates", "2")
    assert exit_code(*command) == 0
    before = records()
    assert {record.environment["threads"] for record in before.values()} == {2}
    run_id, record = next(item for item in before.items() if item[1].setup.training.steps > 1)
    file = find_run(Path("runs"), run_id)
    file.unlink()
    assert exit_code(*command) == 0
    again = records()[run_id]
    assert again.environment["threads"] == 2
    assert (again.results, again.curves) == (record.results, record.curves)


def test_stored_trials_count_as_planned(tmp_path: Path) -> None:
    plan = plan_table(tiny_tuning.NAME, "latents", trials=Trials(), regime="tuned")
    all_to_do = TrialWork.of(plan.subjects, tmp_path)
    trial = all_to_do.to_do[0]
    add_trials(tmp_path, content_of(trial.failed("diverged"), trial.subject, "vectors"))
    one_less = TrialWork.of(plan.subjects, tmp_path)
    assert len(one_less.to_do) == len(all_to_do.to_do) - 1
    assert len(one_less.planned) == len(all_to_do.planned) == len(all_to_do.to_do)
