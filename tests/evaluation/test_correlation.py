from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.errors import RecordError
from benchsuite.evaluation.rank_metrics import sts
from benchsuite.evaluation.sentences import CONSTANT, doubled_ranks, ranked


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    return sts({"X_cosine": doubled_ranks(a), "X_gold": doubled_ranks(b)}, ["X"]).measures["X"]


def average_ranks(values: Sequence[float]) -> list[float]:
    return [sum(b < a for b in values) + (sum(b == a for b in values) + 1) / 2 for a in values]


def kept(similar: Sequence[float], gold: Sequence[float]) -> float:
    return sts(ranked("X", similar, gold), ["X"]).measures["X"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_spearman_is_pearson_of_average_ranks(pairs: list[tuple[int, int]]) -> None:
    a, b = (list(map(float, side)) for side in zip(*pairs, strict=True))
    x, y = (np.array(average_ranks(side)) for side in (a, b))
    assert doubled_ranks(a).tolist() == (2 * x).tolist()
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x**2).sum() * (y**2).sum())
    assert spearman(a, b) == pytest.approx((x * y).sum() / scale if scale else 0.0, abs=1e-12)


def test_cosines_that_differ_by_rounding_alone_are_alike() -> None:
    assert doubled_ranks([0.5, 0.5 + CONSTANT / 2, 0.5], CONSTANT).tolist() == [4, 4, 4]
    assert doubled_ranks([0.5, 0.5 + 2 * CONSTANT, 0.5], CONSTANT).tolist() == [3, 6, 3]
    assert kept([0.5, 0.5 + CONSTANT / 2], [1, 2]) == 0
    assert kept([1, 2], [3, 3]) == 0


@pytest.mark.parametrize("lost", ["X_cosine", "X_gold"])
def test_ranks_that_contradict_each_other_are_refused(lost: str) -> None:
    ranks = ranked("X", [1, 2, 3], [1, 2, 3])
    with pytest.raises(RecordError, match="X_cosine and X_gold have"):
        sts({**ranks, lost: ranks[lost][:-1]}, ["X"])
