from collections import Counter
from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from support.exported import TABLE, VALUES, build

from benchsuite.analysis.boards import boards
from benchsuite.analysis.column_tests import (
    board_column_tests,
    friedman,
    improvement,
    kendall,
    table_column_tests,
)
from benchsuite.analysis.results import table_tests
from benchsuite.papers import Table
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]
Floats = NDArray[np.float64]
FEW = st.integers(0, 3).map(float)  # few values, so that ties are common
SMALL = st.tuples(st.integers(3, 6), st.integers(3, 5)).flatmap(
    lambda size: st.lists(st.lists(FEW, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0])
)


def rows(values: Floats) -> dict[str, dict[int, float]]:
    """Of [rows, seeds]."""
    return {f"row {number}": dict(enumerate(row)) for number, row in enumerate(values.tolist())}


@given(SMALL)
def test_w_is_kendalls_and_p_that_of_friedmans_chi_square(lists: list[list[float]]) -> None:
    values = np.array(lists)
    ranks = stats.rankdata(values, axis=0)
    assume((ranks != ranks[0]).any())
    found = friedman(rows(values))
    k, n = values.shape
    ties = sum(count**3 - count for block in ranks.T for count in Counter(block.tolist()).values())
    squares = ((ranks.sum(axis=1) - n * (k + 1) / 2) ** 2).sum()
    w = 12 * squares / (n**2 * (k**3 - k) - n * ties)
    assert found.w == pytest.approx(w)
    assert found.statistic == pytest.approx(n * (k - 1) * w)
    assert found.p == pytest.approx(stats.chi2.sf(n * (k - 1) * w, k - 1))


def test_only_seeds_that_all_rows_have_and_may_be_paired_at_count() -> None:
    values = rows(np.random.default_rng(2).normal(size=(3, 6)))
    alone = friedman({name: {seed: row[seed] for seed in (0, 2, 3, 5)} for name, row in values.items()})
    del values["row 1"][4]
    skipped = {("row 0", "row 2"): {1: "other weights"}, ("row 0", "row 9"): {0: "no row of this column"}}
    assert friedman({**values, "not run": {}}, skipped) == alone
    assert alone.seeds == (0, 2, 3, 5)


@pytest.mark.parametrize(
    ("values", "seeds"), [((0, 3), 0), ((1, 3), 0), ((2, 5), 0), ((3, 2), 2), ((4, 3), 3)], ids=str
)
def test_with_few_rows_or_seeds_or_equal_rows_there_is_a_reason_and_no_number(
    values: tuple[int, int], seeds: int
) -> None:
    found = friedman(rows(np.ones(values)))
    assert (found.statistic, found.w, found.p) == (None, None, None)
    assert (found.rows, len(found.seeds)) == (values[0], seeds)
    assert found.reason


def test_what_differs_by_rounding_alone_is_tied() -> None:
    assert 0.1 + 0.2 != 0.3
    values = np.array([[0.1 + 0.2] * 3, [0.3] * 3, [0.5] * 3])
    assert friedman(rows(values)) == friedman(rows(values.round(6)))
    assert kendall([1, 2, 3], [{0: row[0]} for row in values]) == kendall([1, 2, 3], [{0: 0.3}, {0: 0.3}, {0: 0.5}])
    tied = improvement({0: 0.1 + 0.2}, {0: 0.3})
    assert tied
    assert tied.probability == 0.5


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


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_interval_of_improvement_is_that_of_all_resamples_of_the_seeds(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.5, 1, n), rng.normal(0, 1, n)
    every = [np.mean(a[list(drawn)][:, None] > b[list(drawn)]) for drawn in product(range(n), repeat=n)]
    found = improvement(dict(enumerate(a)), dict(enumerate(b)))
    assert found
    cuts_off_a_fortieth(found.low, found.high, np.array(every))


def test_only_shared_seeds_count_and_two_give_no_interval() -> None:
    found = improvement({0: 0.5, 1: 0.6, 7: 9.0}, {0: 0.1, 1: 0.55, 8: 9.0})
    assert found
    assert (found.probability, found.low, found.high, found.seeds) == (0.75, None, None, (0, 1))
    assert improvement({0: 0.5}, {1: 0.5}) is None


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


def changed(**changes: Any) -> Table:
    """The table with other columns."""
    return TABLE.model_copy(update={"columns": [c.model_copy(update=changes) for c in TABLE.columns]})


def test_each_column_is_tested_and_rows_are_compared_with_the_first_baseline(make_record: MakeRecord) -> None:
    view = build(make_record, VALUES)
    (board,) = table_column_tests(view)
    higher, lower = board.columns
    assert board.reference == "Best"
    assert higher.friedman == lower.friedman == friedman({name: dict(enumerate(row)) for name, row in VALUES.items()})
    assert {name: found.probability for name, found in higher.improvements.items()} == {"Twin_2": 0.5, "Worst": 0.0}
    assert lower.improvements["Worst"].probability == 1.0
    assert (board.reason, board.size) == ("", (3, 4))
    first, second = table_tests(view)
    assert (first["column"], second["column"]) == ("a", "b")
    assert (first["kendall_w"], first["p"]) == (higher.friedman.w, higher.friedman.p)
    assert first["improvement"]["Twin_2"]["probability"] == 0.5


def test_without_a_better_direction_rows_may_differ_but_not_improve(make_record: MakeRecord) -> None:
    (board,) = table_column_tests(build(make_record, VALUES, changed(better="neither")))
    assert board.columns[0].friedman.w is not None
    assert board.columns[0].improvements == {}


def test_a_reason_that_all_columns_share_is_said_once(make_record: MakeRecord) -> None:
    (board,) = table_column_tests(build(make_record, {"Twin_2": (0.1, 0.2, 0.3)}))
    assert board.reason == board.columns[0].friedman.reason != ""
    assert "Twin_2" not in board.columns[0].improvements, "not over a reference that was not run"


def test_a_seed_at_which_two_rows_may_not_be_paired_is_left_out(make_runs: Callable[..., dict[int, Record]]) -> None:
    runs = [make_runs(name, (0.1, 0.2, 0.3, 0.4)) for name in ("infonce", "ts", "temo")]
    record = runs[2][1]
    other = make_runs("temo", (None, 0.2), digests={**record.digests, "initial_weights": "other"})[1]
    (board,) = boards([r for row in runs for r in row.values() if r is not record] + [other])
    (column,) = board_column_tests(board, next(row for row in board.rows if row.method == "infonce")).columns
    assert column.friedman.seeds == (0, 2, 3)
    assert sorted(found.seeds for found in column.improvements.values()) == [(0, 1, 2, 3), (0, 2, 3)]
