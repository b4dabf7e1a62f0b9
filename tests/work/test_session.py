"""What becomes of a run that failed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.execution.events import Failed
from benchsuite.planning.plan import plan_run
from benchsuite.records.checkpoints import folder_of
from benchsuite.records.store import Store
from benchsuite.work.session import Session


@pytest.mark.parametrize("diverged", [False, True])
def test_a_run_that_diverged_does_not_go_on_from_its_checkpoints(tmp_path: Path, diverged: bool) -> None:
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {})
    checkpoint = folder_of(tmp_path, run.run_id) / "step-3"
    checkpoint.mkdir(parents=True)
    events = (event for event in [Failed(run, "no number", diverged=diverged)])
    workplace: Any = SimpleNamespace(executor=lambda store: SimpleNamespace(execute=lambda runs: events))
    assert [each.run for each in Session(workplace, Store(tmp_path), lambda *lines, **how: None).do([run])] == [run]
    assert checkpoint.exists() is not diverged
    assert [failure.reason for failure in Store(tmp_path).read().failures.values()] == ["no number"]
