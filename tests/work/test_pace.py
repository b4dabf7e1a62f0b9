"""How long a run takes, from short ones."""

import time

import pytest

from benchsuite.planning.plan import Run, plan_run
from benchsuite.work import duration as pace


def test_a_run_is_extrapolated_from_two_shorter_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def measured(run: Run) -> None:
        nonlocal now
        assert not run.keep_weights  # it has no folder for them
        now += 2 + 0.1 * run.steps

    monkeypatch.setattr(pace, "measure", measured)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {}).model_copy(update={"keep_weights": True})
    assert pace.seconds_of(run) == pytest.approx(2 + 0.1 * run.steps)
