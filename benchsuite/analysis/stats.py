"""Two rows over the seeds they share: how far apart they are, and how sure one may be of it."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchsuite.errors import RecordError, UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
ROUNDING = 1e-12
"""Differences this small beside the values themselves are rounding, and count as none."""


@dataclass(frozen=True)
class Figures:
    """Of each comparison, [comparisons]; not a number where there are too few seeds for one."""

    n: Ints
    difference: Floats
    """Mean of ours minus theirs."""
    sd: Floats
    """Standard deviation of the differences; 0 only where all are equal but for rounding."""
    p: Floats
    """Two-sided, of the paired t-test; without spread, of the signs."""


def figures(ours: Floats, theirs: Floats, shared: Bools) -> Figures:
    """Of values [comparisons, seeds], each comparison over the seeds that it shares."""
    n = shared.sum(axis=1)
    gaps = np.where(shared, ours - theirs, 0.0)
    size = np.where(shared, np.maximum(np.abs(ours), np.abs(theirs)), 0.0).max(axis=1, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = gaps.sum(axis=1) / n
        mean[np.abs(mean) <= ROUNDING * size] = 0.0
        sd = np.sqrt((np.where(shared, gaps - mean[:, None], 0.0) ** 2).sum(axis=1) / (n - 1))
        greatest = np.where(shared, gaps, -np.inf).max(axis=1, initial=-np.inf)
        sd[greatest - np.where(shared, gaps, np.inf).min(axis=1, initial=np.inf) <= ROUNDING * size] = 0.0
        sd[n < 2] = np.nan
        p = 2 * special.stdtr(n - 1, -np.abs(mean) / (sd / np.sqrt(n)))
    p[sd == 0] = 2.0 ** (1 - n[sd == 0])
    p[mean == 0] = 1.0
    p[n < 2] = np.nan
    return Figures(n, mean, sd, p)


def holm_adjusted(ps: Floats) -> Floats:
    """Holm's p of each; what is not a number stays so, and does not count."""
    order = np.argsort(ps, kind="stable")[: np.count_nonzero(~np.isnan(ps))]
    found = np.full(len(ps), np.nan)
    found[order] = np.minimum(1.0, np.maximum.accumulate(ps[order] * np.arange(len(order), 0, -1)))
    return found


ALPHA = 0.05
MINIMUM = 3
"""Seeds in common below which nothing is judged: two give a spread, but one number is all that is known of it."""
MOST = 10_000
"""Seeds beyond which `seeds_needed` stops looking."""
FLIPS = 2**13
"""How many flips of signs are counted: all of them up to 13 seeds, beyond that as many, drawn by chance."""


@dataclass(frozen=True)
class Paired:
    """Ours minus theirs, seed by seed. What needs a spread is None below two seeds; `too_small` says so.

    `p` is that of the paired t-test, which takes the differences for normally distributed. Where all of them are equal
    there is no spread to judge by, and t is not defined: then only the signs are left, and `p` is `p_sign_flip`.
    """

    seeds: tuple[int, ...]
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    unpaired: tuple[int, ...]
    """Seeds that only one of the two has: left out."""
    alpha: float
    difference: float | None
    """Mean of the differences."""
    sd: float | None
    """Standard deviation of the differences."""
    low: float | None
    high: float | None
    """Ends of the interval that holds the true difference in 1 - alpha of repetitions."""
    p: float | None

    over: ClassVar[str] = "seeds"
    """What sd and interval vary over."""

    @property
    def n(self) -> int:
        """Seeds in common."""
        return len(self.seeds)

    @property
    def differences(self) -> tuple[float, ...]:
        """By seed."""
        return tuple(a - b for a, b in zip(self.ours, self.theirs, strict=True))

    @property
    def floor(self) -> float:
        """The least that `p_sign_flip` can be, whatever the differences: 2 of 2^n flips are as extreme as none."""
        return min(1.0, 2.0 ** (1 - self.n))

    @property
    def constant(self) -> bool:
        """Whether the differences have no spread although there are several."""
        return self.n > 1 and self.sd == 0

    @property
    def too_small(self) -> str:
        """Why there are too few seeds for a verdict, if so."""
        if self.n >= MINIMUM:
            return ""
        have = {0: "no seed", 1: "1 seed"}.get(self.n, f"{self.n} seeds")
        return f"{have} in common; a verdict takes at least {MINIMUM}"

    @property
    def note(self) -> str:
        """What is special about differences without spread."""
        if not self.constant:
            return ""
        if self.difference == 0:
            return f"no difference: the two are equal on all {self.n} seeds"
        return (
            f"the difference is the same on all {self.n} seeds: the interval has no width because nothing "
            "is known of the spread, and p is that of the signs alone"
        )

    @cached_property
    def p_sign_flip(self) -> float | None:
        """p without any assumption but that, were the rows alike, each difference might have had either sign.

        Exact up to 13 seeds.
        """
        if self.n < 2:
            return None
        if self.constant:
            return 1.0 if self.difference == 0 else self.floor
        from scipy import stats

        unit = max(map(abs, self.differences))
        test = stats.permutation_test(
            (np.asarray(self.differences) / unit,),
            lambda flipped, axis: np.round(flipped.mean(axis), 12),  # flips that tie must not differ by rounding
            permutation_type="samples",
            n_resamples=FLIPS,
            vectorized=True,
            random_state=0,
        )
        return float(test.pvalue)

    @cached_property
    def correlation(self) -> float | None:
        """How alike the seeds move both rows (Pearson); None below three seeds, or if one row does not move.

        High correlation is what pairing lives on: what a seed does to both rows cancels in their difference.
        """
        if self.n < 3 or _is_constant(self.ours, self.ours) or _is_constant(self.theirs, self.theirs):
            return None
        return float(np.clip(np.corrcoef(self.ours, self.theirs)[0, 1], -1, 1))


def compare(ours: Mapping[int, float], theirs: Mapping[int, float], alpha: float = ALPHA) -> Paired:
    """The two rows' values by seed, paired by seed. Whoever compares many asks `compare_all`, which is faster."""
    return compare_all([(ours, theirs)], alpha)[0]


def compare_all(pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]], alpha: float = ALPHA) -> list[Paired]:
    """Each two rows' values by seed, paired by seed."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is a share of wrong verdicts, between 0 and 1; {alpha} is not.")
    shared = [tuple(sorted(ours.keys() & theirs.keys())) for ours, theirs in pairs]
    place = {seed: number for number, seed in enumerate(sorted({seed for seeds in shared for seed in seeds}))}
    values = np.full((2, len(pairs), len(place)), np.nan)
    for number, (rows, seeds) in enumerate(zip(pairs, shared, strict=True)):
        for side, row in enumerate(rows):
            require_numbers(row)
            for seed in seeds:
                values[side, number, place[seed]] = row[seed]
    found = figures(values[0], values[1], ~np.isnan(values[0]))
    return [
        _paired(ours, theirs, seeds, alpha, *numbers)
        for (ours, theirs), seeds, *numbers in zip(
            pairs, shared, found.difference.tolist(), found.sd.tolist(), found.p.tolist(), strict=True
        )
    ]


def require_numbers(row: Mapping[int, float]) -> None:
    """Refuse a row with a value that is no number."""
    for seed, value in row.items():
        if not math.isfinite(value):
            raise RecordError(f"seed {seed} has the value {value}, which cannot be compared; a number is needed.")


def seeds_needed(paired: Paired, alpha: float = ALPHA) -> int | None:
    """The fewest seeds at which this difference with this spread would be separable at `alpha`; at least `MINIMUM`.

    Of the test that gives the verdict, the t-test (for differences without spread, that of signs). It takes the
    difference and spread seen for the true ones, so at that number of seeds the chance is about even.
    None if there is no difference or no spread to go by, or if more than `MOST` would be needed.
    """
    if not paired.difference or paired.sd is None:
        return None
    if paired.sd == 0:
        return max(MINIMUM, seeds_for_signs(alpha))
    ratio = abs(paired.difference) / paired.sd
    counts = range(MINIMUM, MOST + 1)
    place = bisect_left(counts, True, key=lambda n: ratio * math.sqrt(n) >= t_quantile(n, alpha))
    return counts[place] if place < len(counts) else None


def seeds_for_signs(alpha: float = ALPHA) -> int:
    """The fewest seeds at which a sign-flip test can separate anything at `alpha`: 2/2^n must not be above it."""
    return max(2, math.ceil(1 - math.log2(alpha)))


@lru_cache(maxsize=2**16)
def t_quantile(n: int, alpha: float = ALPHA) -> float:
    """How many standard errors the interval of a mean of n values reaches to either side."""
    return float(special.stdtrit(n - 1, 1 - alpha / 2))


def half_width(sd: float, n: int, alpha: float = ALPHA) -> float:
    """Half of the interval that holds the true mean in 1 - alpha of repetitions, of n values with this spread."""
    return t_quantile(n, alpha) * sd / math.sqrt(n)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Adjusted so that `p <= alpha` holds for any true null of the family in at most alpha of all families.

    None stays None and does not count. No independence is assumed.
    """
    found = holm_adjusted(np.array([math.nan if p is None else p for p in ps]))
    return [None if math.isnan(p) else p for p in found.tolist()]


def adjusted(pairs: Sequence[Paired | None]) -> list[float | None]:
    """Holm's p over the comparisons that have enough seeds for a verdict; None for the others."""
    return holm([None if one is None or one.too_small else one.p for one in pairs])


def _paired(
    ours: Mapping[int, float],
    theirs: Mapping[int, float],
    seeds: tuple[int, ...],
    alpha: float,
    difference: float,
    sd: float,
    p: float,
) -> Paired:
    n, left_out = len(seeds), tuple(sorted(ours.keys() ^ theirs.keys()))
    left, right = tuple(ours[seed] for seed in seeds), tuple(theirs[seed] for seed in seeds)
    if n < 2:
        return Paired(seeds, left, right, left_out, alpha, difference if n else None, None, None, None, None)
    reach = half_width(sd, n, alpha)
    return Paired(seeds, left, right, left_out, alpha, difference, sd, difference - reach, difference + reach, p)


def _is_constant(values: Sequence[float], beside: Sequence[float]) -> bool:
    return max(values) - min(values) <= ROUNDING * max(map(abs, beside))
