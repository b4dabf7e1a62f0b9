from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from benchsuite.analysis.rank_agreement import kendall


def test_what_differs_by_rounding_alone_is_tied() -> None:
    assert 0.1 + 0.2 != 0.3
    values = np.array([[0.1 + 0.2] * 3, [0.3] * 3, [0.5] * 3])
    assert kendall([1, 2, 3], [{0: row[0]} for row in values]) == kendall([1, 2, 3], [{0: 0.3}, {0: 0.3}, {0: 0.5}])


@pytest.mark.parametrize(("published", "tau"), [((10, 20, 30), 1.0), ((30, 20, 10), -1.0)])
def test_the_published_order_is_1_and_its_opposite_is_minus_1(published: tuple[float, ...], tau: float) -> None:
    measured = [{0: 0.1, 1: 0.11, 2: 0.12, 3: 9.0}, {0: 0.2, 1: 0.21, 2: 0.22}, {0: 0.3, 1: 0.31, 2: 0.32}]
    found = kendall([*published, 99, None], [*measured, {}, {0: 0.9}])
    assert found.tau == tau
    assert (found.rows, found.seeds, found.reason) == (3, (0, 1, 2), "")


@pytest.mark.parametrize("measured", [(1, 2, 3), (1, 3, 2, 5, 4), (5, 4, 3, 2, 1)])
def test_p_is_the_share_of_all_orders_that_agree_as_much_or_more(measured: tuple[float, ...]) -> None:
    published = range(len(measured))
    taus = np.array([stats.kendalltau(published, order).statistic for order in permutations(measured)])
    found = kendall(published, [{0: value / 7} for value in measured])
    assert found.tau is not None
    assert found.p == pytest.approx((taus > found.tau - 1e-9).mean())


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
    assert (found.tau, found.p) == (None, None)
    assert found.reason
