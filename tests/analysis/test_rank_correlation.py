from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from benchsuite.analysis.rank_correlation import ORDERS, kendall, tau_b

SMALL = st.integers(0, 5).map(float)  # few values, so that ties are common


def rows(*values: tuple[float, ...]) -> list[dict[int, float]]:
    return [dict(enumerate(each)) for each in values]


@given(st.integers(3, 8).flatmap(lambda n: st.tuples(*[st.lists(SMALL, min_size=n, max_size=n)] * 2)))
def test_tau_is_scipys(lists: tuple[list[float], list[float]]) -> None:
    x, y = map(np.array, lists)
    assume(len(set(x)) > 1)
    assume(len(set(y)) > 1)
    assert float(tau_b(x, y)) == pytest.approx(stats.kendalltau(x, y).statistic)


def test_means_that_differ_by_rounding_alone_are_tied() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert float(tau_b(x, np.array([0.1 + 0.2, 0.3, 0.5]))) == float(tau_b(x, np.array([0.3, 0.3, 0.5])))
    assert 0.1 + 0.2 != 0.3


@pytest.mark.parametrize(("published", "tau"), [((10, 20, 30), 1.0), ((30, 20, 10), -1.0)])
def test_the_published_order_is_1_and_its_opposite_is_minus_1(published: tuple[float, ...], tau: float) -> None:
    found = kendall(published, rows((0.1, 0.11, 0.12), (0.2, 0.21, 0.22), (0.3, 0.31, 0.32)))
    assert (found.tau, found.low, found.high) == (tau, tau, tau)
    assert (found.rows, found.seeds, found.reason) == (3, (0, 1, 2), "")


@pytest.mark.parametrize(("n", "seed"), [(3, 0), (3, 1), (4, 0), (4, 1), (4, 2), (5, 0)])
def test_interval_cuts_off_a_fortieth_of_all_resamples_of_the_seeds_at_each_end(n: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(12, n)) + 0.1 * np.arange(12)[:, None]
    published = [*range(6, 12), *range(6)]
    every = product(range(n), repeat=n)
    taus = np.array([stats.kendalltau(published, values[:, list(drawn)].mean(axis=1)).statistic for drawn in every])
    found = kendall(published, rows(*map(tuple, values)))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.high
    noise = 0.01  # four standard deviations of a share of 1/40 among 5,000
    for end, outside in ((found.low, taus - found.low), (found.high, found.high - taus)):
        assert np.abs(taus - end).min() < 1e-9
        assert (outside < -1e-9).mean() <= 0.025 + noise
        assert (outside < 1e-9).mean() >= 0.025 - noise


@pytest.mark.parametrize(
    ("published", "measured"),
    [
        ((1, 2, 3), (1, 2, 3)),
        ((1, 2, 3, 4, 5), (1, 3, 2, 5, 4)),
        ((1, 1, 2, 3, 3), (2, 1, 2, 2, 5)),
        ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1)),
    ],
)
def test_p_is_the_share_of_all_orders_that_agree_as_much_or_more(
    published: tuple[float, ...], measured: tuple[float, ...]
) -> None:
    taus = np.array([stats.kendalltau(published, order).statistic for order in permutations(measured)])
    observed = stats.kendalltau(published, measured).statistic
    found = kendall(published, [{0: value / 7} for value in measured])
    assert found.p == pytest.approx((taus > observed - 1e-9).mean())


def test_of_many_rows_orders_are_drawn_and_p_is_near_the_exact_one() -> None:
    measured = [2, 1, 5, 3, 8, 4, 6, 7, 12, 9, 10, 11]
    found = kendall(range(12), [{0: float(value)} for value in measured])
    fewer = kendall(range(9), [{0: float(value)} for value in measured[:9]])
    for one, n in ((found, 12), (fewer, 9)):
        assert one.p == pytest.approx(stats.kendalltau(range(n), measured[:n], alternative="greater").pvalue, abs=0.002)
    same = kendall(range(12), [{0: float(value)} for value in range(12)])
    assert same.p == 1 / (1 + ORDERS)


def test_seeds_are_drawn_for_all_rows_together() -> None:
    """What a seed does to every row moves no order."""
    values = np.random.default_rng(5).integers(0, 64, size=(4, 5)) / 64
    plain = kendall([1, 2, 3, 4], rows(*map(tuple, values)))
    moved = kendall([1, 2, 3, 4], rows(*map(tuple, values + np.array([0, 8, -4, 16, 2]))))
    assert plain == moved
    assert plain.low != plain.high


def test_the_interval_is_the_same_each_time() -> None:
    values = rows(*map(tuple, np.random.default_rng(1).normal(size=(6, 8))))
    assert kendall(range(6), values) == kendall(range(6), values)


def test_rows_without_both_numbers_do_not_count() -> None:
    values = rows((0.1, 0.2, 0.3), (0.2, 0.3, 0.4), (0.9, 0.9, 0.9), (), (0.3, 0.4, 0.5))
    found = kendall([1, 2, None, 99, 3], values)
    assert (found.tau, found.rows) == (1.0, 3)


def test_only_seeds_that_all_rows_have_count() -> None:
    found = kendall([1, 2, 3], [{0: 0.1, 1: 0.1, 2: 0.1, 3: 9.0}, {0: 0.2, 1: 0.2, 2: 0.2}, {0: 0.3, 1: 0.3, 2: 0.3}])
    assert (found.tau, found.seeds) == (1.0, (0, 1, 2))


@pytest.mark.parametrize(
    ("published", "measured", "says"),
    [
        ([], [], "0 rows have both numbers"),
        ([1, None, 2], rows((0.1,), (0.2,), (0.3,)), "2 rows have both numbers; an order needs at least 3"),
        ([1, 2, 3], [{0: 0.1}, {0: 0.2}, {1: 0.3}], "no seed is shared by all rows"),
        ([5, 5, 5], rows((0.1,), (0.2,), (0.3,)), "all published numbers are equal"),
        ([1, 2, 3], rows((0.1, 0.2, 0.3), (0.3, 0.1, 0.2), (0.2, 0.3, 0.1)), "all of our means are equal"),
    ],
)
def test_without_an_order_there_is_a_reason_and_no_number(
    published: list[float | None], measured: list[dict[int, float]], says: str
) -> None:
    found = kendall(published, measured)
    assert (found.tau, found.low, found.high) == (None, None, None)
    assert found.reason.startswith(says)


def test_two_seeds_give_an_order_and_no_interval() -> None:
    found = kendall([1, 2, 3], rows((0.1, 0.2), (0.2, 0.3), (0.3, 0.4)))
    assert (found.tau, found.low, found.high) == (1.0, None, None)
    assert found.reason == "2 shared seeds; an interval needs at least 3"
