import math
from itertools import pairwise

import numpy as np
import pytest

from benchsuite.analysis.stats import MOST, compare_arrays, power, seeds_for


@pytest.mark.parametrize(
    ("effect", "n", "alpha", "known"),
    [
        (0.5, 20, 0.05, 0.5644828966786231),
        (1.0, 5, 0.05, 0.4013202851995048),
        (2.0, 3, 0.05, 0.4707477061929428),
        (1.0, 10, 0.001, 0.15984971941850545),
        (3.0, 5, 0.001, 0.34780261745022256),
        (0.2, 100, 0.05, 0.508224201139758),
    ],
)
def test_power_is_that_of_statsmodels(effect: float, n: int, alpha: float, known: float) -> None:
    """TTestPower().power(effect, n, alpha / 2, alternative="larger"): the chance of the right sign."""
    assert power(0.02 * effect, 0.02, n, alpha) == pytest.approx(known, abs=1e-9)
    assert power(-0.02 * effect, 0.02, n, alpha) == power(0.02 * effect, 0.02, n, alpha)


@pytest.mark.parametrize(("effect", "alpha", "known"), [(0.5, 0.05, 33.367), (1.0, 0.001, 22.416), (2.0, 0.01, 6.306)])
def test_seeds_are_those_of_statsmodels_rounded_up(effect: float, alpha: float, known: float) -> None:
    """TTestPower().solve_power(effect, alpha=alpha / 2, power=0.8, alternative="larger")."""
    assert seeds_for(effect, 1.0, alpha) == math.ceil(known)


@pytest.mark.parametrize(("effect", "n", "alpha"), [(2.0, 3, 0.05), (1.0, 10, 0.01), (0.8, 20, 0.05 / 7)])
def test_power_is_the_share_of_simulated_experiments_that_confirm(effect: float, n: int, alpha: float) -> None:
    ours = np.random.default_rng(n).normal(effect, 1, (20_000, n))
    found = compare_arrays(ours, np.zeros_like(ours))
    share = np.mean((found.p <= alpha) & (found.difference > 0))
    known = power(effect, 1, n, alpha)
    assert abs(share - known) <= 4 * math.sqrt(known * (1 - known) / len(ours))


@pytest.mark.parametrize("sd", [0.55, 1.0, 1.35, 2.0])
def test_power_rises_with_the_seeds_also_where_the_chance_to_miss_vanishes(sd: float) -> None:
    """scipy gives NaN at some of these numbers of seeds: the search for the fewest once ended there."""
    level = 0.05 / 15
    powers = [power(1.0, sd, n, level) for n in range(3, 6000)]
    assert all(0 <= before <= after <= 1 for before, after in pairwise(powers))
    assert seeds_for(1.0, sd, level) == 3 + next(i for i, chance in enumerate(powers) if chance >= 0.8)


def test_seeds_end() -> None:
    assert seeds_for(100.0, 1.0) == 3
    assert seeds_for(1e-4, 1.0) is None
    assert MOST >= 1000


@pytest.mark.parametrize(("effect", "known"), [(1e9, 1.0), (1e-12, 0.025)])
def test_power_is_a_share_at_both_ends(effect: float, known: float) -> None:
    assert power(effect, 1.0, 5) == pytest.approx(known)
