"""Rankings beside a naive twin, to the last bit: close scores, equal ones, zeros of both signs."""

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchsuite.evaluation.graded import Floats, GradedRanking, rank

TINY = 5e-324
CLOSE = [math.nextafter(0.3, 1), 0.3, math.nextafter(0.3, 0), 0.3 + 2**-50, -0.3, math.nextafter(-0.3, 0)]
SCORES = [*CLOSE, 0.0, -0.0, TINY, -TINY, 3 * TINY, 1e308, -1e308, 1.0, -1.0]
LEVELS = [0.0, 0.0, 0.0, 1 / 3, 0.1, 0.7, 1.0]


def naive(scores: Floats, worth: Floats) -> GradedRanking:
    """Item by item."""
    full, ranks, sums, relevant, gains, ideal = [], [], [], [], [], []
    for row, values in zip(scores.tolist(), worth.tolist(), strict=True):
        ranked = [values[j] for j in sorted(range(len(row)), key=lambda j: (-row[j], values[j]))]
        up_to = list(itertools.accumulate(ranked))
        tops = [k for k, value in enumerate(ranked) if value == 1]
        count = sum(value > 0 for value in values)
        full.append(len(tops))
        ranks += [k + 1 for k in tops]
        sums += [up_to[k] for k in tops]
        relevant.append(count)
        gains += ranked[:count]
        ideal += sorted(values, reverse=True)[:count]
    return GradedRanking(*(np.array(x) for x in (full, ranks, sums, relevant, gains, ideal)))


def assert_same(scores: Floats, worth: Floats) -> None:
    blocks = list(rank(scores, worth, 1, "v2t"))
    expected = naive(scores, worth)
    for name in GradedRanking._fields:
        found = np.concatenate([getattr(block, name) for block in blocks])
        assert found.tolist() == getattr(expected, name).tolist(), name


def filled(draw: st.DrawFn, values: list[float], n: int, m: int) -> NDArray[np.float64]:
    return np.array(draw(st.lists(st.sampled_from(values), min_size=n * m, max_size=n * m))).reshape(n, m)


@st.composite
def hard_pairs(draw: st.DrawFn) -> tuple[Floats, Floats]:
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    return filled(draw, SCORES, n, m), filled(draw, LEVELS, n, m)


@given(hard_pairs())
def test_close_and_equal_scores_are_ranked_as_by_hand(pairs: tuple[Floats, Floats]) -> None:
    assert_same(*pairs)


@given(st.integers(0, 10**6), st.integers(1, 400), st.sampled_from([0.02, 0.5, 1.0]), st.booleans())
def test_long_rows_are_ranked_as_by_hand(seed: int, columns: int, share: float, transposed: bool) -> None:
    """Relevancies of any value, each once; some scores are the next number after another."""
    rng = np.random.default_rng(seed)
    scores, worth = rng.normal(size=(5, columns)), rng.random((5, columns))
    worth[rng.random(worth.shape) > share] = 0
    worth[rng.random(worth.shape) < 0.02] = 1
    copied = rng.integers(0, columns, columns // 3)
    scores[:, copied] = np.nextafter(scores[:, rng.permutation(copied)], 9)
    if transposed:
        scores, worth = scores.T, worth.T
    assert_same(scores, worth)


def test_a_matrix_without_relevant_items_has_empty_rankings() -> None:
    assert_same(np.ones((3, 4)), np.zeros((3, 4)))


def test_inputs_are_left_as_they_were() -> None:
    rng = np.random.default_rng(0)
    scores, worth = rng.normal(size=(4, 30)), rng.choice(LEVELS, (4, 30))
    before = scores.copy(), worth.copy()
    for way in ((scores, worth), (scores.T, worth.T)):
        list(rank(*way, 1, "v2t"))
    assert (scores == before[0]).all()
    assert (worth == before[1]).all()
