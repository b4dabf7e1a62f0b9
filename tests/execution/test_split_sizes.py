"""What is checked before a record is written."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.errors import RunError
from benchsuite.evaluation import rank_metrics
from benchsuite.execution.evaluate import require_agreement, results_of
from benchsuite.execution.measure import measure
from benchsuite.planning.plan import Run
from benchsuite.records.recompute import RankRule, Scores
from benchsuite.records.schema import Result
from benchsuite.setup import Protocol

RANKS = {"class": np.array([1, 2, 1, 4], np.int32), "classes": np.array([12], np.int32)}


def test_a_record_holds_the_size_of_each_judged_split(tiny_run: Callable[..., Run]) -> None:
    record, _ = measure(tiny_run(steps=1, batch=8))
    sizes = {name: result.split_size for name, result in record.results.items()}
    assert sizes == {"retrieval": 64, "retrieval-gallery": 8, "zero-shot-colour": 64}
    assert record.results["retrieval"].counts["i2t"] == 64


def result(task: str, **changes: Any) -> dict[str, Result]:
    told = rank_metrics.zero_shot(RANKS)
    numbers = {"metrics": dict(told.metrics), "counts": dict(told.counts), "split_size": 4}
    return {"mine": Result.model_validate({"task": task, "version": 1, **numbers, **changes})}


def protocol(task: str, **options: Any) -> dict[str, Protocol]:
    return {"mine": Protocol(task=task, version=1, options=options)}


def test_numbers_that_are_not_those_of_their_ranks_stop_the_run() -> None:
    mine = protocol("zero-shot", classes="colour", templates="t")
    scores = {"mine": rank_metrics.zero_shot(RANKS)}
    require_agreement(mine, result("zero-shot"), scores)
    for changes, says in (
        ({"metrics": {"top1": 0.75}}, "top1 is 0.75 in the record, 0.5 from its ranks"),
        ({"counts": {"pictures": 5}}, "counts.pictures is 5 in the record, 4 from its ranks"),
        ({"split_size": 5}, "counts.pictures is 4, but the split has 5 items"),
    ):
        with pytest.raises(RunError, match=says):
            require_agreement(mine, result("zero-shot", **changes), scores)


def test_a_task_is_held_to_its_own_rule(monkeypatch: Any) -> None:
    rule = RankRule(lambda ranks: Scores({"top1": 0.25}, {"pictures": 4}, ranks))
    monkeypatch.setitem(rank_metrics.RULES, "zero-shot", rule)
    dataset = create_dataset("scenes", train=8, validation=8, test=4, gallery=8)
    scores = {"mine": Scores({"top1": 0.5}, {"pictures": 4}, RANKS)}
    with pytest.raises(RunError, match=r"mine, zero-shot: top1 is 0\.5 in the record, 0\.25 from its ranks"):
        results_of(protocol("zero-shot", split="test"), scores, dataset)


def test_a_task_that_tells_nothing_from_ranks_is_left_alone() -> None:
    told = {"mine": Result(task="geometry", version=1, metrics={}, counts={"pairs": 4}, measures={"gap": 0.5})}
    require_agreement(protocol("geometry"), told, {"mine": Scores({}, {"pairs": 4})})
