"""What of several tables is to be done."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.made_records import MakeRecord

from benchsuite.planning.plan import Run, plan_run
from benchsuite.records.schema import Record, Sidecar, TunedBy, searches_of
from benchsuite.work.tables import TableWork

PRINTED = TunedBy(trials=5, trial=0, score=0.5, digest="d")
TUNED = TunedBy(trials=16, trial=0, score=0.5, digest="d", searched=["tau"])


def work(runs: list[Run], *stored: Record) -> TableWork:
    contents: Any = SimpleNamespace(records={record.run_id: record for record in stored}, refused_runs=set())
    plans: Any = [SimpleNamespace(runs=[run]) for run in runs]
    return TableWork(plans, contents, Path())


@pytest.fixture
def planned(make_record: MakeRecord) -> Any:
    """`planned(search)`: the run of `make_record`, found by it."""
    run = plan_run("infonce", "latents-pairs", "RN50", 0, {})
    return lambda tuned: run.model_copy(update={"run_id": make_record()[0].run_id, "tuned": tuned})


def test_rows_as_printed_and_tuned_that_found_the_same_run_share_it(planned: Any) -> None:
    (run,) = work([planned(PRINTED), planned(TUNED)]).missing
    assert [*searches_of(run).values()] == [PRINTED, TUNED]


def test_a_stored_run_is_done_again_if_its_record_does_not_know_of_a_search(
    planned: Any, make_record: MakeRecord
) -> None:
    old, both = make_record(tuned=TUNED)[0], make_record(tuned=TUNED, also_tuned=[PRINTED])[0]
    assert work([planned(TUNED)], old).missing == []
    assert work([planned(PRINTED), planned(TUNED)], both).missing == []
    (again,) = work([planned(PRINTED)], old).missing
    assert [*searches_of(again).values()] == [TUNED, PRINTED]


def test_what_the_plan_says_of_a_search_counts_and_weights_stay_kept(planned: Any, make_record: MakeRecord) -> None:
    made_again, weights = TUNED.model_copy(update={"digest": "e"}), Sidecar(file="x.safetensors", sha256="0")
    before = make_record(tuned=TUNED, weights=weights)[0]
    (run,) = work([planned(made_again), planned(PRINTED)], before).missing
    assert [*searches_of(run).values()] == [made_again, PRINTED]
    assert run.keep_weights
    assert work([planned(PRINTED)], before).without_weights == 0
