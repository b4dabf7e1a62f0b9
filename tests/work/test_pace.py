"""How long a run takes, from short ones."""

import time

import pytest
from support.made_records import MakeRecord

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


def test_a_run_of_twice_the_steps_takes_twice_as_long_and_is_not_taken_for_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0

    def measured(run: Run) -> None:
        nonlocal now
        now += 2 + 0.1 * run.steps

    monkeypatch.setattr(pace, "measure", measured)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {})
    longer = run.model_copy(update={"method": run.method.model_copy(update={"longer": 2.0})})
    each = [2 + 0.1 * run.steps, 2 + 0.2 * run.steps]
    assert pace.seconds_of(longer) == pytest.approx(each[1])
    assert pace.Pace().by_replicate([run, longer], []) == {0: pytest.approx(sum(each))}


def test_estimates_are_from_runs_of_the_same_length_that_say_how_long_they_took(make_record: MakeRecord) -> None:
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {})
    about = {"setup_id": run.setup.setup_id, "method": run.method}
    costs = {"seconds": 7.0}, {}, {"seconds": None}
    records = {str(i): make_record()[0].model_copy(update={**about, "cost": cost}) for i, cost in enumerate(costs)}
    assert pace.estimated_seconds([run], 1, records) == 7.0
    longer = run.model_copy(update={"method": run.method.model_copy(update={"longer": 2.0})})
    assert pace.estimated_seconds([longer], 1, records) == longer.estimate
