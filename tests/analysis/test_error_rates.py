"""How often the room is wrong where the truth is known: simulated tables, fixed seeds, binomial bounds."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from benchsuite.analysis.ranking import ranking
from benchsuite.analysis.stats import compare
from benchsuite.analysis.verdict import ClaimQuestion, Family, judge_family

pytestmark = pytest.mark.slow

Values = NDArray[np.float64]  # [columns, rows, seeds]
Draw = Callable[[np.random.Generator, int], Values]

ALPHA = 0.05
TABLES = 2000
ROWS, COLUMNS = 10, 3
WHOLE, ALONE = Family("claims of t", (ROWS - 1) * COLUMNS), Family("claim of t", 1)


def bound(count: int = TABLES) -> float:
    """The nominal rate and three standard errors of what so many tables can show of it: .0646 for 2,000."""
    return ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / count)


def normal(rng: np.random.Generator, n: int) -> Values:
    """What a seed does to all rows is three times what it does to each."""
    return rng.normal(0.4, 0.03, (COLUMNS, 1, n)) + rng.normal(0, 0.01, (COLUMNS, ROWS, n))


def answers(questions: int, share: float) -> Draw:
    """Right answers among so many questions; seeds move how hard these are for all rows."""

    def draw(rng: np.random.Generator, n: int) -> Values:
        odds = share / (1 - share) * np.exp(rng.normal(0, 0.3, (COLUMNS, 1, n)))
        return rng.binomial(questions, np.broadcast_to(odds / (1 + odds), (COLUMNS, ROWS, n))) / questions

    return draw


def skewed(rng: np.random.Generator, n: int) -> Values:
    return rng.exponential(0.02, (COLUMNS, ROWS, n))


def heavy_tailed(rng: np.random.Generator, n: int) -> Values:
    return 0.4 + 0.01 * rng.standard_t(2, (COLUMNS, ROWS, n))


def by_seed(values: NDArray[np.float64]) -> dict[int, float]:
    return dict(enumerate(values.tolist()))


def tables(draw: Draw, n: int, count: int = TABLES) -> Iterator[Values]:
    rng = np.random.default_rng(20240607)
    return (draw(rng, n) for _ in range(count))


def claims(table: Values) -> list[ClaimQuestion]:
    """Every row but the first is said to beat the first, on every column."""
    return [ClaimQuestion(by_seed(row), by_seed(column[0])) for column in table for row in column[1:]]


def wrong_families(draw: Draw, n: int, count: int = TABLES) -> float:
    """Share of tables in which any claim got a verdict although no row differs from any other."""
    return float(
        np.mean(
            [any(v.kind != "undecided" for v in judge_family(claims(t), WHOLE, ALPHA)) for t in tables(draw, n, count)]
        )
    )


@pytest.mark.parametrize("n", [3, 5])
def test_without_a_difference_few_tables_hold_any_verdict(n: int) -> None:
    assert wrong_families(normal, n) <= bound()


@pytest.mark.parametrize("n", [3, 5])
def test_a_single_claim_is_wrong_as_often_as_alpha_says(n: int) -> None:
    """Not more often, and not less: a test that is never wrong would never find anything either."""
    kinds = [judge_family(claims(table)[:1], ALONE, ALPHA)[0].kind for table in tables(normal, n)]
    wrong = np.mean([kind != "undecided" for kind in kinds])
    assert abs(wrong - ALPHA) <= bound() - ALPHA
    assert kinds.count("reproduced") == pytest.approx(kinds.count("opposite"), abs=3 * math.sqrt(ALPHA * TABLES))


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("draw", [answers(100, 0.1), skewed, heavy_tailed])
def test_noise_need_not_be_normal(draw: Draw, n: int) -> None:
    assert wrong_families(draw, n, TABLES // 2) <= bound(TABLES // 2)


def test_true_differences_are_found() -> None:
    """Without this, a room that never separates anything would pass all of the above."""
    effect = np.zeros((1, ROWS, 1))
    effect[:, 1:5], effect[:, 5:] = 0.1, -0.1
    found = [judge_family(claims(table + effect), WHOLE, ALPHA) for table in tables(normal, 5, 200)]
    up = [verdict.kind for family in found for place, verdict in enumerate(family) if place % 9 < 4]
    down = [verdict.kind for family in found for place, verdict in enumerate(family) if place % 9 >= 4]
    assert up.count("reproduced") / len(up) > 0.7
    assert down.count("opposite") / len(down) > 0.7
    assert up.count("opposite") + down.count("reproduced") == 0


@pytest.mark.parametrize("n", [3, 5])
def test_intervals_hold_the_true_difference_as_often_as_they_say(n: int) -> None:
    """95 ± 1.5 %: four standard errors of 4,000 pairs."""
    rng = np.random.default_rng(n)
    true, pairs = 0.02, 4000
    seeds = rng.normal(0.4, 0.03, (pairs, n))
    ours, theirs = (seeds + rng.normal(mean, 0.01, (pairs, n)) for mean in (true, 0))
    found = [compare(by_seed(a), by_seed(b)) for a, b in zip(ours, theirs, strict=True)]
    held = np.mean([(one.low or 0) <= true <= (one.high or 0) for one in found])
    assert abs(held - 0.95) <= 0.015


@pytest.mark.parametrize("n", [3, 5])
def test_equal_rows_stay_together_beside_rows_that_differ(n: int) -> None:
    """Truths that are found leave fewer comparisons to adjust for; equal rows must not suffer from it."""
    levels = np.repeat([0.0, 5.0], ROWS // 2)[:, None]
    apart = []
    for table in tables(normal, n):
        ranks = ranking(named(table[0] + levels), alpha=ALPHA).ranks
        groups = [[f"row {place}" for place in part] for part in np.split(np.arange(ROWS), 2)]
        apart.append(
            any(len(set(ranks[name].tied_with) & set(group)) < len(group) - 1 for group in groups for name in group)
        )
    assert np.mean(apart) <= bound()


def named(column: Values) -> dict[str, dict[int, float]]:
    return {f"row {place}": by_seed(row) for place, row in enumerate(column)}
