import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchsuite.errors import RecordError
from benchsuite.evaluation.rank_metrics import GROUPS, PLAIN, RULES, WAYS, counted, retrieval, zero_shot
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


def test_what_was_nearest_is_kept_and_moves_no_number() -> None:
    ranks = {"i2t": np.array([1, 40]), "t2i": np.array([1, 2, 3])}
    nearest = {"i2t_nearest": np.array([2, 1]), "t2i_nearest": np.array([2, 1, 1])}
    plain, told = retrieval(ranks), retrieval({**ranks, **nearest})
    assert (told.metrics, told.counts, told.measures) == (plain.metrics, plain.counts, plain.measures)
    assert {name: each.tolist() for name, each in told.ranks.items() if name in nearest} == {
        "i2t_nearest": [2, 1],
        "t2i_nearest": [2, 1, 1],
    }
    for odd in ([2, 3, 1], [2, 0, 1], [1, 2]):
        with pytest.raises(RecordError, match="t2i_nearest are not pictures, one for each query"):
            retrieval({**ranks, **nearest, "t2i_nearest": np.array(odd)})
    with pytest.raises(RecordError, match="a_nearest are not pictures"):
        retrieval({**ranks, "a_nearest": np.array([1, 2])})
    assert "a" in retrieval({**ranks, "a": np.array([1])}).counts, "what no record counts is told by `verify`"


LAST = {"knn-plain": 1, "mmvp": 1, "matching": 1, "knn": 5, "linear-probe": 5, "tail": 10, "zero-shot": 10}
"""The last rank that a task's numbers need; retrieval's depends on the median. Of sentences there are 1 and 2 alone."""


def ranks_of(task: str, largest: int, items: int, seed: int) -> dict[str, NDArray[np.int64]]:
    """Any ranks that the task may have found."""
    draw = np.random.default_rng(seed).integers
    names = {
        "tail": [f"{way}_{group}" for way in WAYS for group in GROUPS],
        "knn-plain": [f"k{k}" for k in PLAIN],
        "matching": ["text", "image"],
        **dict.fromkeys(["retrieval", "gallery-retrieval"], WAYS),
    }.get(task, ["class"])
    count = items if task in ("retrieval", "gallery-retrieval", "tail") else 2 * items  # pairs of a statement, an image
    most = 2 if task == "sentence-transfer" else largest
    return {name: draw(1, most + 1, count) for name in names}


CAPPED = [name for name, rule in RULES.items() if rule.scores and rule.only_ranks and name != "multilabel"]
"""Average precision needs every rank."""


@pytest.mark.parametrize("task", CAPPED)
@given(largest=st.sampled_from([1, 2, 9, 13, 400]), items=st.integers(1, 40), seed=st.integers(0, 99))
def test_what_is_stored_gives_the_same_numbers_in_less_room(task: str, largest: int, items: int, seed: int) -> None:
    whole = ranks_of(task, largest, items, seed)
    ranks = {**whole, "classes": np.array([largest])} if task == "zero-shot" else whole
    scores = RULES[task](ranks, {"images": 2})
    again = RULES[task](scores.ranks, {"images": 2})
    assert (again.metrics, again.counts, again.measures) == (scores.metrics, scores.counts, scores.measures)
    middles = [int(np.sort(each)[len(each) // 2]) for each in whole.values()]
    last = LAST.get(task, max(10, *middles, 0))
    stored = {name: np.minimum(each, last + 1) for name, each in whole.items()}
    if task == "tail":  # `retrieval` has the same query by query
        stored = {name: np.sort(each) for name, each in stored.items()}
    assert all(np.array_equal(scores.ranks[name], each) for name, each in stored.items())
    kept = counted(task, scores.ranks)
    same = RULES[task](kept, {"images": 2})
    assert (same.metrics, same.counts, same.measures) == (scores.metrics, scores.counts, scores.measures)
    assert all(task not in IN_ANY_ORDER or (np.diff(each) >= 0).all() for each in kept.values())


IN_ANY_ORDER = {"gallery-retrieval", "knn", "knn-plain", "linear-probe", "retrieval", "tail", "zero-shot"}


@pytest.mark.parametrize("task", [*sorted(RULES.keys() - IN_ANY_ORDER), "of a plugin"])
def test_what_needs_an_order_keeps_it(task: str) -> None:
    ranks = {"class": np.array([3, 1, 2, 1]), "i2t_nearest": np.array([2, 1])}
    assert counted(task, ranks) is ranks


@pytest.mark.parametrize("task", sorted(IN_ANY_ORDER))
def test_where_nobody_can_look_it_is_not_kept_what_was_nearest(task: str) -> None:
    kept = counted(task, {"i2t": np.array([3, 1, 2, 1]), "i2t_nearest": np.array([2, 1, 4, 3])})
    assert {name: each.tolist() for name, each in kept.items()} == {"i2t": [1, 1, 2, 3]}
