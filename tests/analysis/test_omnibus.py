from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from benchsuite.analysis import omnibus
from benchsuite.analysis.omnibus import PERMUTATIONS, friedman, improvement

Floats = NDArray[np.float64]
FEW = st.integers(0, 3).map(float)  # few values, so that ties are common
SMALL = st.tuples(st.integers(3, 6), st.integers(3, 5)).flatmap(
    lambda size: st.lists(st.lists(FEW, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0])
)


def rows(values: Floats) -> dict[str, dict[int, float]]:
    """Of [rows, seeds]."""
    return {f"row {number}": dict(enumerate(row)) for number, row in enumerate(values.tolist())}


@given(SMALL)
def test_the_statistic_is_scipys_and_w_is_as_defined(lists: list[list[float]]) -> None:
    values = np.array(lists)
    ranks = stats.rankdata(values, axis=0)
    assume((ranks != ranks[0]).any())
    found = friedman(rows(values))
    assert found.statistic == pytest.approx(stats.friedmanchisquare(*values).statistic)
    k, n = values.shape
    ties = sum(count**3 - count for block in ranks.T for count in Counter(block.tolist()).values())
    squares = ((ranks.sum(axis=1) - n * (k + 1) / 2) ** 2).sum()
    assert found.w == pytest.approx(12 * squares / (n**2 * (k**3 - k) - n * ties))


@pytest.mark.parametrize(("k", "n"), [(3, 3), (3, 4), (4, 3)])
@pytest.mark.parametrize("levels", [3, 1000])
def test_p_is_the_share_of_all_permutations_within_seeds_that_differ_as_much(k: int, n: int, levels: int) -> None:
    values = np.random.default_rng(k + n).integers(0, levels, size=(k, n)).astype(float)
    ranks = stats.rankdata(values, axis=0).T  # [seeds, rows]
    every = product(*([block[list(order)] for order in permutations(range(k))] for block in ranks))
    spreads = np.array([((np.sum(blocks, axis=0) - n * (k + 1) / 2) ** 2).sum() for blocks in every])
    observed = ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
    found = friedman(rows(values))
    assert found.exact
    assert found.p == pytest.approx((spreads > observed - 1e-9).mean())


def test_permutations_are_drawn_where_all_are_too_many_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four rows 24 orders, times the sums of ranks so far: about ten after two seeds."""
    values = np.random.default_rng(1).normal(size=(4, 5))
    assert friedman(rows(values)).exact
    monkeypatch.setattr(omnibus, "EXACT", 100)
    omnibus._null.cache_clear()
    try:
        assert not friedman(rows(values)).exact
    finally:
        omnibus._null.cache_clear()


def test_with_many_rows_p_is_of_drawn_permutations_and_the_same_each_time() -> None:
    """Of twelve rows and ten seeds the chi-square distribution is near."""
    values = np.random.default_rng(3).normal(size=(12, 10)) + 0.06 * np.arange(12)[:, None]
    found = friedman(rows(values))
    assert not found.exact
    assert found.p == pytest.approx(stats.friedmanchisquare(*values).pvalue, abs=0.01)
    assert found == friedman(rows(values))
    apart = friedman(rows(values + 10 * np.arange(12)[:, None]))
    assert (apart.w, apart.p) == (pytest.approx(1), 1 / (1 + PERMUTATIONS))


def test_equal_rows_are_called_different_as_often_as_alpha_says() -> None:
    rng = np.random.default_rng(7)
    drawn = [rng.normal(size=(1, 5)) + 0.1 * rng.normal(size=(6, 5)) for _ in range(2000)]
    ps = [friedman(rows(values)).p or 0 for values in drawn]
    assert np.mean(np.array(ps) <= 0.05) == pytest.approx(0.05, abs=3 * (0.05 * 0.95 / 2000) ** 0.5)


def test_what_a_seed_does_to_all_rows_does_not_count() -> None:
    values = np.random.default_rng(5).integers(0, 64, size=(4, 5)) / 64
    assert friedman(rows(values)) == friedman(rows(values + np.array([0, 8, -4, 16, 2])))


def test_values_that_differ_by_rounding_alone_are_tied() -> None:
    exact = np.array([[0.3, 0.1, 0.2, 0.5], [0.3, 0.3, 0.3, 0.3], [0.2, 0.2, 0.4, 0.1]])
    rounded = exact.copy()
    rounded[0, 0] = 0.1 + 0.2
    assert rounded[0, 0] != 0.3
    assert friedman(rows(rounded)) == friedman(rows(exact))


def test_only_seeds_that_all_rows_have_and_may_be_paired_at_count() -> None:
    values = rows(np.random.default_rng(2).normal(size=(3, 6)))
    alone = friedman({name: {seed: row[seed] for seed in (0, 2, 3, 5)} for name, row in values.items()})
    del values["row 1"][4]
    skipped = {("row 0", "row 2"): {1: "other weights"}, ("row 0", "row 9"): {0: "no row of this column"}}
    assert friedman({**values, "not run": {}}, skipped) == alone
    assert alone.seeds == (0, 2, 3, 5)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (np.zeros((0, 3)), "0 rows have values; the test needs at least 3"),
        (np.zeros((1, 3)), "1 row has values; the test needs at least 3"),
        (np.zeros((2, 5)), "2 rows have values; the test needs at least 3"),
        (np.arange(6.0).reshape(3, 2), "2 seeds are shared by all rows; the test needs at least 3"),
        (np.ones((4, 3)), "all rows are equal on every seed"),
    ],
)
def test_without_a_test_there_is_a_reason_and_no_number(values: Floats, says: str) -> None:
    found = friedman(rows(values))
    assert (found.statistic, found.w, found.p, found.reason) == (None, None, None, says)


@given(st.lists(st.tuples(FEW, FEW), min_size=1, max_size=6))
def test_the_probability_of_improvement_is_mann_whitneys_share(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = (dict(enumerate(row)) for row in zip(*pairs, strict=True))
    found = improvement(ours, theirs)
    assert found
    u = stats.mannwhitneyu(list(ours.values()), list(theirs.values())).statistic
    assert found.probability == pytest.approx(u / len(pairs) ** 2)
    mirrored = improvement(ours, theirs, "lower")
    assert mirrored
    assert mirrored.probability == pytest.approx(1 - found.probability)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_its_interval_is_that_of_all_resamples_of_the_seeds(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.5, 1, n), rng.normal(0, 1, n)
    every = [np.mean(a[list(drawn)][:, None] > b[list(drawn)]) for drawn in product(range(n), repeat=n)]
    found = improvement(dict(enumerate(a)), dict(enumerate(b)))
    assert found
    for end, outside in ((found.low, np.less), (found.high, np.greater)):
        assert end is not None
        assert np.abs(np.array(every) - end).min() < 1e-9
        assert np.mean(outside(every, end + (1e-9 if outside is np.greater else -1e-9))) <= 0.025 + 0.01


def test_only_shared_seeds_count_and_two_give_no_interval() -> None:
    found = improvement({0: 0.5, 1: 0.6, 7: 9.0}, {0: 0.1, 1: 0.55, 8: 9.0})
    assert found
    assert (found.probability, found.low, found.high, found.seeds) == (0.75, None, None, (0, 1))
    assert improvement({0: 0.5}, {1: 0.5}) is None
