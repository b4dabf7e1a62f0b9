import subprocess
import sys

import numpy as np
import pytest

from benchsuite.errors import RecordError
from benchsuite.evaluation.rank_metrics import RULES, zero_shot
from benchsuite.registry import tasks


def test_every_task_has_a_rule() -> None:
    assert set(RULES) == set(tasks)


@pytest.mark.parametrize("name", sorted(tasks))
def test_every_number_follows_from_ranks_or_the_rule_says_why_not(name: str) -> None:
    rule, about = RULES[name], tasks.card(name).about
    assert set(rule.not_recomputable) <= {*about["metrics"], *about.get("measures", ())}
    assert set(rule.options) <= {field.name for field in tasks.card(name).fields}
    assert bool(rule.why) == bool(rule.not_recomputable or rule.scores is None)
    if rule.scores is None:
        assert not about["metrics"], "fractions are shares of queries, and follow from their ranks"


def test_each_cut_counts_ranks_up_to_itself() -> None:
    scores = zero_shot({"class": np.array([1, 3, 5, 10, 11], np.int32), "classes": np.array([12])})
    assert scores.metrics == pytest.approx({"top1": 0.2, "top3": 0.4, "top5": 0.6, "top10": 0.8})
    assert scores.counts == {"pictures": 5}


@pytest.mark.parametrize(
    ("classes", "reported"), [(1, [1]), (2, [1]), (5, [1, 3]), (10, [1, 3, 5]), (11, [1, 3, 5, 10])]
)
def test_no_top_k_is_reported_that_must_be_1(classes: int, reported: list[int]) -> None:
    scores = zero_shot({"class": np.array([1, classes], np.int32), "classes": np.array([classes], np.int32)})
    assert [*scores.metrics] == [f"top{k}" for k in reported]


def test_the_rules_need_no_torch() -> None:
    code = "import sys, benchsuite.evaluation.rank_metrics; print({'torch', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def sts_of(pairs: list[int], cosine: int, gold: int, aggregation: str = "mean") -> float:
    ranks = {
        "a_pairs": np.array(pairs),
        "a_cosine": 2 * np.arange(1, cosine + 1),
        "a_gold": 2 * np.arange(1, gold + 1),
    }
    return RULES["sts"](ranks, {"sets": ["a"], "aggregation": aggregation}).measures["a"]


@pytest.mark.parametrize(
    ("pairs", "cosine", "gold"),
    [
        ([], 5, 5), ([0, 5], 5, 5), ([-1, 6], 5, 5), ([2, 2], 5, 5), ([3, 3], 5, 5), ([6], 5, 5), ([2, 3], 5, 4),
        ([2, 3], 4, 5), ([2**62] * 4 + [5], 5, 5),
    ],
)  # fmt: skip
def test_parts_of_a_set_must_have_its_pairs(pairs: list[int], cosine: int, gold: int) -> None:
    """Four times 2^62 wraps around to 0."""
    with pytest.raises(RecordError, match=rf"a_cosine and a_gold have {cosine} and {gold} ranks of"):
        sts_of(pairs, cosine, gold)


@pytest.mark.parametrize("pairs", [[5], [2, 3], [3, 2]])
def test_equal_orders_correlate_to_1_in_every_part(pairs: list[int]) -> None:
    assert sts_of(pairs, 5, 5) == pytest.approx(1.0)


@pytest.mark.parametrize(("aggregation", "expected"), [("mean", 0.0), ("wmean", (2 - 3) / 5)])
def test_parts_count_alike_or_by_their_pairs(aggregation: str, expected: float) -> None:
    ranks = {"a_pairs": np.array([2, 3]), "a_cosine": np.array([2, 4, 2, 4, 6]), "a_gold": np.array([2, 4, 6, 4, 2])}
    scores = RULES["sts"](ranks, {"sets": ["a"], "aggregation": aggregation})
    assert scores.measures == pytest.approx({"a": expected, "average": expected})
    assert scores.counts == {"a": 5}
