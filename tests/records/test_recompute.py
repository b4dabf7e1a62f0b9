"""Numbers computed again from ranks, by the tasks' own rules."""

from typing import Any

import numpy as np
import pytest
from support.rankings import FILMS

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.recompute import Ranks, Recomputed, recompute
from benchsuite.records.schema import Result
from benchsuite.registry import tasks

GALLERY = {"i2t": np.array([1, 2, 9, 40], np.int32), "t2i": np.array([1, 1, 5, 6], np.int32)}
COLOUR = {"class": np.array([1, 3, 2], np.int32), "classes": np.array([12], np.int32)}
STS = {
    "mine_cosine": np.array([2, 4, 6, 6, 2, 4]),
    "mine_gold": np.array([2, 4, 6, 2, 6, 4]),
}


def stored(task: str, ranks: Ranks, options: dict[str, Any] | None = None, **changes: Any) -> Result:
    """What a record holds that was made from these ranks."""
    scores = RULES[task](ranks, options or {})
    content = {"metrics": dict(scores.metrics), "counts": dict(scores.counts), "measures": dict(scores.measures)}
    version = tasks.card(task).about["version"]
    return Result.model_validate({"task": task, "version": version, **content, **changes})


def again(result: Result, ranks: Ranks, options: dict[str, Any] | None = None) -> Recomputed:
    return recompute(result, ranks, options or {}, RULES)


@pytest.mark.parametrize(
    ("task", "ranks", "numbers"),
    [("retrieval", GALLERY, 7 + 2 + 2), ("zero-shot", COLOUR, 4 + 1), ("multi-instance-retrieval", FILMS, 6 + 2)],
)
def test_untouched_ranks_give_the_record(task: str, ranks: Ranks, numbers: int) -> None:
    assert again(stored(task, ranks), ranks) == Recomputed(agreed=numbers)


@pytest.mark.parametrize(
    ("task", "ranks", "changed", "differing"),
    [
        ("retrieval", GALLERY, {"t2i": np.array([1, 1, 5, 11])}, ["t2i_r10", "r_mean"]),
        ("retrieval", GALLERY, {"i2t": np.array([1, 4, 9, 40])}, ["i2t_median_rank"]),
        ("zero-shot", COLOUR, {"class": np.repeat(COLOUR["class"], 2)}, ["counts.pictures"]),
        ("multi-instance-retrieval", FILMS, {"v2t_ranks": np.array([1, 4])}, ["map_v2t", "map"]),
    ],
)
def test_changed_ranks_name_what_differs(task: str, ranks: Ranks, changed: Ranks, differing: list[str]) -> None:
    done = again(stored(task, ranks), {**ranks, **changed})
    assert [line.partition(" ")[0] for line in done.differs] == differing


def test_numbers_that_the_record_or_its_ranks_lack_are_named() -> None:
    more = stored("zero-shot", COLOUR, measures={"spread": 0.5})
    assert again(more, COLOUR).differs == ["spread is 0.5 in the record, missing from its ranks"]
    less = stored("retrieval", GALLERY, measures={})
    assert again(less, GALLERY).differs[0] == "i2t_median_rank is missing in the record, 5.5 from its ranks"


@pytest.mark.parametrize(
    ("task", "ranks", "kept", "says"),
    [
        ("zero-shot", COLOUR, {}, "no ranks are stored"),
        ("zero-shot", COLOUR, {"classes": COLOUR["classes"]}, "no ranks 'class' are stored"),
        ("zero-shot", COLOUR, {"class": np.array([], int)}, "ranks class are empty"),
        ("zero-shot", COLOUR, {"class": np.array([0, 1])}, "ranks class begin at 0; 1 is best"),
        (
            "multi-instance-retrieval",
            FILMS,
            {**FILMS, "t2v_gains": np.array([2, 2])},
            "t2v_gains has 2 numbers where t2v_relevant counts 3",
        ),
    ],
)
def test_ranks_that_cannot_be_are_named(task: str, ranks: Ranks, kept: Ranks, says: str) -> None:
    assert again(stored(task, ranks), kept).differs == [says]


def test_the_protocols_options_decide_where_a_rule_asks_for_them() -> None:
    options = {"sets": ["mine"]}
    result = stored("sts", STS, options)
    assert result.measures == {"mine": 0.0, "average": 0.0}
    assert again(result, STS, options).differs == []
    assert again(result, STS).differs == ['its protocol has no option "sets"']
    assert again(result, STS, {"sets": 3}).differs
    assert again(result, {**STS, "mine_gold": STS["mine_cosine"]}, options).differs[0].startswith("mine is 0.0")
    assert (
        "6 and 2 ranks of the same pairs" in again(result, {**STS, "mine_gold": np.array([2, 4])}, options).differs[0]
    )


def test_what_does_not_follow_from_ranks_is_named_with_the_reason() -> None:
    fit = {"iterations": 7.0, "converged": 1.0}
    done = again(stored("linear-probe", COLOUR, measures=fit), COLOUR)
    assert (done.agreed, done.differs, done.not_recomputable) == (2 + 1, [], list(fit))
    assert done.why == RULES["linear-probe"].why
    shape = Result(task="geometry", version=1, metrics={}, counts={"pairs": 3}, measures={"gap": 0.5})
    assert again(shape, {}) == Recomputed(not_recomputable=["gap"], why=RULES["geometry"].why)
    unknown = Result(task="from-a-plugin", version=1, metrics={"top1": 1.0}, counts={})
    assert "--plugin" in again(unknown, {}).differs[0]
