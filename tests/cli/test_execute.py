from pathlib import Path

import pytest

from benchsuite.cli.execute import execute
from benchsuite.errors import UsageError
from benchsuite.experiments.plan import plan_run
from benchsuite.records.store import Store


def test_a_run_over_several_processes_is_refused_before_anything_starts(tmp_path: Path) -> None:
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {})
    training = run.setup.training.model_copy(update={"processes": 8})
    spread = run.model_copy(update={"setup": run.setup.model_copy(update={"training": training})})
    with pytest.raises(UsageError, match=r"RN50 infonce seed 0 needs 8 processes.* set training\.processes = 1"):
        execute([run, spread], Store(tmp_path / "runs"), 1, ())
    assert not (tmp_path / "runs").exists()
