from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from benchsuite.analysis.rank_agreement import kendall

Floats = NDArray[np.float64]


def rows(values: Floats) -> dict[str, dict[int, float]]:
    """Of [rows, seeds]."""
    return {f"row {number}": dict(enumerate(row)) for number, row in enumerate(values.tolist())}


def test_what_differs_by_rounding_alone_is_tied() -> None:
    assert 0.1 + 0.2 != 0.3
    values = np.array([[0.1 + 0.2] * 3, [0.3] * 3, [0.5] * 3])
    assert kendall([1, 2, 3], [{0: row[0]} for row in values]) == kendall([1, 2, 3], [{0: 0.3}, {0: 0.3}, {0: 0.5}])


def cuts_off_a_fortieth(low: float | None, high: float | None, every: Floats) -> None:
    """The ends of an interval among the numbers of all resamples of the seeds."""
    assert low is not None
    assert high is not None
    assert low < high
    noise = 0.01  # four standard deviations of a share of 1/40 among 5,000
    for end, outside in ((low, every - low), (high, high - every)):
        assert np.abs(every - end).min() < 1e-9
        assert (outside < -1e-9).mean() <= 0.025 + noise
        assert (outside < 1e-9).mean() >= 0.025 - noise


@pytest.mark.parametrize(("published", "tau"), [((10, 20, 30), 1.0), ((30, 20, 10), -1.0)])
def test_the_published_order_is_1_and_its_opposite_is_minus_1(published: tuple[float, ...], tau: float) -> None:
    measured = [{0: 0.1, 1: 0.11, 2: 0.12, 3: 9.0}, {0: 0.2, 1: 0.21, 2: 0.22}, {0: 0.3, 1: 0.31, 2: 0.32}]
    found = kendall([*published, 99, None], [*measured, {}, {0: 0.9}])
    assert (found.tau, found.low, found.high) == (tau, tau, tau)
    assert (found.rows, found.seeds, found.reason) == (3, (0, 1, 2), "")


@pytest.mark.parametrize(("n", "seed"), [(3, 0), (4, 1), (5, 0)])
def test_the_interval_of_tau_is_that_of_all_resamples_of_the_seeds(n: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 6, size=(12, n)) + 0.1 * np.arange(12)[:, None] // 1
    published = [*range(6, 12), *range(6)]
    taus = [
        stats.kendalltau(published, values[:, list(drawn)].mean(axis=1)).statistic
        for drawn in product(range(n), repeat=n)
    ]
    found = kendall(published, [*rows(values).values()])
    assert found.tau == pytest.approx(stats.kendalltau(published, values.mean(axis=1)).statistic)
    cuts_off_a_fortieth(found.low, found.high, np.array(taus))


@pytest.mark.parametrize("measured", [(1, 2, 3), (1, 3, 2, 5, 4), (5, 4, 3, 2, 1)])
def test_p_is_the_share_of_all_orders_that_agree_as_much_or_more(measured: tuple[float, ...]) -> None:
    published = range(len(measured))
    taus = np.array([stats.kendalltau(published, order).statistic for order in permutations(measured)])
    found = kendall(published, [{0: value / 7} for value in measured])
    assert found.tau is not None
    assert found.p == pytest.approx((taus > found.tau - 1e-9).mean())


def test_seeds_are_drawn_for_all_rows_together_and_alike_each_time() -> None:
    """What a seed does to every row moves no order."""
    values = np.random.default_rng(5).integers(0, 64, size=(4, 5)) / 64
    plain, moved = (
        kendall([1, 2, 3, 4], [*rows(values + shift).values()]) for shift in (0, np.array([0, 8, -4, 16, 2]))
    )
    assert plain == moved
    assert plain.low != plain.high


@pytest.mark.parametrize(
    ("published", "measured"),
    [
        ([], []),
        ([1, None, 2], [{0: 0.1}, {0: 0.2}, {0: 0.3}]),
        ([1, 2, 3], [{0: 0.1}, {0: 0.2}, {1: 0.3}]),
        ([5, 5, 5], [{0: 0.1}, {0: 0.2}, {0: 0.3}]),
        ([1, 2, 3], [{0: 0.1, 1: 0.2, 2: 0.3}, {0: 0.3, 1: 0.1, 2: 0.2}, {0: 0.2, 1: 0.3, 2: 0.1}]),
    ],
    ids=["no rows", "two rows", "no shared seed", "equal published", "equal means"],
)
def test_without_an_order_there_is_a_reason_and_no_number(
    published: list[float | None], measured: list[dict[int, float]]
) -> None:
    found = kendall(published, measured)
    assert (found.tau, found.low, found.high, found.p) == (None, None, None, None)
    assert found.reason


def test_two_seeds_give_an_order_and_no_interval() -> None:
    found = kendall([1, 2, 3], [{0: 0.1, 1: 0.2}, {0: 0.2, 1: 0.3}, {0: 0.3, 1: 0.4}])
    assert (found.tau, found.low, found.high) == (1.0, None, None)
    assert found.reason
