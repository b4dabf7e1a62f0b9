import math
import warnings
from collections.abc import Iterator
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from benchsuite.analysis.stats import compare
from benchsuite.analysis.stats import holm as holm_of_array
from benchsuite.errors import RecordError

EXACT_NUMBERS = st.integers(0, 1024).map(lambda count: count / 1024)  # sums and differences of these do not round
PS = st.lists(st.none() | st.floats(0, 1), max_size=12)


@st.composite
def two_rows(draw: st.DrawFn, least: int = 2, most: int = 7) -> tuple[dict[int, float], dict[int, float]]:
    """Two rows with the same seeds."""
    seeds = draw(st.lists(st.integers(0, 99), min_size=least, max_size=most, unique=True))
    ours, theirs = ({seed: draw(EXACT_NUMBERS) for seed in seeds} for _ in range(2))
    return ours, theirs


def row(*values: float) -> dict[int, float]:
    return dict(enumerate(values))


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_figures_are_those_of_the_textbook() -> None:
    """Student's (1908) hours of sleep gained with two drugs: t = 4.0621 on 9 degrees of freedom."""
    dextro = row(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
    laevo = row(1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
    sleep = compare(laevo, dextro)
    assert sleep.difference == pytest.approx(1.58)
    assert sleep.sd == pytest.approx(1.229995, abs=1e-6)
    assert sleep.p == pytest.approx(0.002833, abs=1e-6)
    assert (sleep.low, sleep.high) == (pytest.approx(0.7001142, abs=1e-6), pytest.approx(2.4598858, abs=1e-6))


@given(two_rows())
def test_interval_and_p_are_scipys(rows: tuple[dict[int, float], dict[int, float]]) -> None:
    found = compare(*rows)
    assume(not found.note)
    seeds = sorted(rows[0])
    test = stats.ttest_rel([rows[0][s] for s in seeds], [rows[1][s] for s in seeds])
    interval = test.confidence_interval(0.95)
    assert found.p == pytest.approx(test.pvalue, rel=1e-9, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)
    assert (found.difference, found.sd) == pytest.approx((fmean(found.differences), stdev(found.differences)))


def test_differences_that_cancel_but_for_rounding_cancel() -> None:
    """Their sum is 0, and 1e-17 in floating point: every flip is as extreme as that."""
    found = compare(row(-0.09, 0.21, -0.16, -0.05, 0.09), row(0, 0, 0, 0, 0))
    assert sum(found.differences) != 0
    assert (found.difference, found.p) == (0, 1)


@given(two_rows(), st.lists(EXACT_NUMBERS, min_size=7, max_size=7))
def test_what_a_seed_does_to_both_rows_changes_nothing(
    rows: tuple[dict[int, float], dict[int, float]], effects: list[float]
) -> None:
    moved = [{seed: value + effects[place] for place, (seed, value) in enumerate(sorted(one.items()))} for one in rows]
    before, after = compare(*rows), compare(*moved)
    assert (before.difference, before.sd, before.low, before.high, before.p) == (
        after.difference, after.sd, after.low, after.high, after.p,
    )  # fmt: skip


def test_seeds_that_only_one_has_are_named_and_left_out() -> None:
    found = compare({0: 0.1, 1: 0.2, 2: 0.4, 7: 9.0}, {5: 9.0, 2: 0.1, 1: 0.1, 0: 0.1})
    assert found.seeds == (0, 1, 2)
    assert found.unpaired == (5, 7)
    assert found.difference == pytest.approx(0.4 / 3)
    assert (found.ours, found.theirs) == ((0.1, 0.2, 0.4), (0.1, 0.1, 0.1))


def test_equal_rows_have_no_difference() -> None:
    found = compare(row(0.1, 0.2, 0.3), row(0.1, 0.2, 0.3))
    assert (found.difference, found.sd, found.low, found.high, found.p) == (0, 0, 0, 0, 1)
    assert found.note == "both rows are equal on all 3 seeds"


@pytest.mark.parametrize("values", [(0.5, 0.75, 0.25), (0.1 + 0.2, 0.7, 0.9), (1e-9, 2e-9, 5e-9), (3e5, 1e5, 7e5)])
def test_a_difference_without_spread_is_left_to_the_signs(values: tuple[float, ...]) -> None:
    """The t-test would call it certain, as 0.3 - 0.1 and 0.4 - 0.2 differ by 5e-17 and t is enormous."""
    found = compare(row(*values), row(*(value - values[0] / 10 for value in values)))
    assert found.difference == pytest.approx(values[0] / 10, rel=1e-3)
    assert found.sd == 0
    assert found.low == found.high == found.difference
    assert found.p == 0.25
    assert "width 0" in found.note


def test_a_small_true_spread_is_no_rounding() -> None:
    found = compare(row(0.5, 0.6, 0.7), row(0.4, 0.5, 0.6 - 1e-6))
    assert found.sd == pytest.approx(1e-6 / math.sqrt(3), rel=1e-3)
    assert found.note == ""


@pytest.mark.parametrize(
    ("n", "says"),
    [(0, "no shared seed"), (1, "1 shared seed"), (2, "2 shared seeds"), (3, "")],
)
def test_too_few_seeds_are_said_in_words(n: int, says: str) -> None:
    found = compare(row(*[0.1, 0.3, 0.2][:n]), row(*[0.2, 0.1, 0.2][:n]))
    assert found.too_small.startswith(says)
    assert bool(found.too_small) == bool(says)
    assert (found.difference is None) == (n == 0)
    assert (found.p is None) == (found.sd is None) == (found.low is None) == (n < 2)


def holm(ps: list[float | None]) -> list[float | None]:
    adjusted = holm_of_array(np.array([math.nan if p is None else p for p in ps]))
    return [None if math.isnan(p) else p for p in adjusted.tolist()]


def sequential(ps: list[float | None]) -> list[float | None]:
    """Holm's procedure as he tells it: reject from the least p on, each at alpha over what is left; stop at the first.

    The adjusted p is the least alpha at which the procedure rejects.
    """
    known = sorted(place for place, p in enumerate(ps) if p is not None)
    found: list[float | None] = [None] * len(ps)
    left, reached = list(known), 0.0
    while left:
        least = min(left, key=lambda place: ps[place] or 0.0)
        reached = max(reached, (ps[least] or 0.0) * len(left))
        found[least] = min(1.0, reached)
        left.remove(least)
    return found


@given(PS)
def test_holm_is_the_sequential_procedure(ps: list[float | None]) -> None:
    assert holm(ps) == sequential(ps)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_refused_with_its_seed(value: float) -> None:
    with pytest.raises(RecordError, match="seed 4 has the value"):
        compare({3: 0.1, 4: value}, {3: 0.2})
