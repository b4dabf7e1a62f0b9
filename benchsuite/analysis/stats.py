"""Paired differences over seeds: intervals, p-values, their corrections for many comparisons, and power."""

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, compress
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchsuite.errors import RecordError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BySeed = Mapping[int, float]
"""A row's values by seed."""

ALPHA = 0.05
MINIMUM = 3
"""Shared seeds below which nothing is judged: two give a spread, but one number is all that is known of it."""
AIM = 0.8
"""The power that a number of seeds is planned for."""
MOST = 10_000
"""Seeds beyond which `seeds_for` stops looking."""
ROUNDING = 1e-12
"""Differences this small beside the values themselves are rounding, and count as none."""


@dataclass(frozen=True)
class Paired:
    """Ours minus theirs, seed by seed. What needs a spread is None below two seeds; `too_small` says so.

    `p` is that of the paired t-test, which assumes normally distributed differences. Where all differences are equal
    there is no spread and t is not defined: then only the signs are left, and `p` is the least of a sign-flip test,
    whatever the differences: 2 of 2^n choices of signs are as extreme.
    """

    seeds: tuple[int, ...]
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    unpaired: tuple[int, ...]
    """Seeds that only one of the two has: not used."""
    difference: float | None
    """Mean of the differences."""
    sd: float | None
    low: float | None
    high: float | None
    """Ends of the interval that holds the true difference in 95% of repetitions."""
    p: float | None

    @property
    def n(self) -> int:
        """Shared seeds."""
        return len(self.seeds)

    @property
    def differences(self) -> tuple[float, ...]:
        return tuple(a - b for a, b in zip(self.ours, self.theirs, strict=True))

    @property
    def turned(self) -> "Paired":
        """Theirs minus ours: a gain, where lower is better."""
        difference, low, high = (None if end is None else 0.0 - end for end in (self.difference, self.high, self.low))
        return replace(self, ours=self.theirs, theirs=self.ours, difference=difference, low=low, high=high)

    @property
    def too_small(self) -> str:
        """Why there are too few seeds for a verdict, if so."""
        if self.n >= MINIMUM:
            return ""
        have = {0: "no shared seed", 1: "1 shared seed"}.get(self.n, f"{self.n} shared seeds")
        return f"{have}; a verdict needs at least {MINIMUM}"

    @property
    def note(self) -> str:
        """What is special about differences without spread."""
        if self.n < 2 or self.sd != 0:
            return ""
        if self.difference == 0:
            return f"both rows are equal on all {self.n} seeds"
        return (
            f"the difference is the same on all {self.n} seeds, so its spread is unknown: "
            "the interval has width 0, and p is that of the sign-flip test"
        )


def compare(ours: BySeed, theirs: BySeed) -> Paired:
    """Two rows, paired by seed. For many comparisons `compare_all` is faster."""
    return compare_all([(ours, theirs)])[0]


def compare_all(pairs: Sequence[tuple[BySeed, BySeed]]) -> list[Paired]:
    """Each two rows, paired by seed."""
    values, _ = as_matrix([ours for ours, _ in pairs] + [theirs for _, theirs in pairs])
    numbers = compare_arrays(values[: len(pairs)], values[len(pairs) :])
    columns = (numbers.difference.tolist(), numbers.sd.tolist(), numbers.p.tolist())
    return [_paired(*pair, *line) for pair, *line in zip(pairs, *columns, strict=True)]


def _paired(ours: BySeed, theirs: BySeed, difference: float, sd: float, p: float) -> Paired:
    seeds, unpaired = (tuple(sorted(which)) for which in (ours.keys() & theirs.keys(), ours.keys() ^ theirs.keys()))
    left, right = tuple(ours[seed] for seed in seeds), tuple(theirs[seed] for seed in seeds)
    n = len(seeds)
    if n < 2:
        return Paired(seeds, left, right, unpaired, difference if n else None, None, None, None, None)
    half = half_width(sd, n)
    return Paired(seeds, left, right, unpaired, difference, sd, difference - half, difference + half, p)


@dataclass(frozen=True)
class Comparisons:
    """Many paired comparisons at once, an entry each; NaN where there are too few seeds for a number."""

    n: Ints
    """Shared seeds."""
    difference: Floats
    """Mean of ours minus theirs."""
    sd: Floats
    """Standard deviation of the differences; 0 only where all are equal but for rounding."""
    p: Floats
    """Two-sided, of the paired t-test; without spread, of the signs."""


def compare_arrays(ours: Floats, theirs: Floats) -> Comparisons:
    """Of values [comparisons, seeds], NaN where there is none: each comparison over the seeds that both have."""
    shared = ~(np.isnan(ours) | np.isnan(theirs))
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
    return Comparisons(n, mean, sd, p)


def as_matrix(rows: Sequence[BySeed]) -> tuple[Floats, dict[int, int]]:
    """Values [rows, seeds], NaN where a row lacks a seed, and the column of each seed."""
    column = {seed: number for number, seed in enumerate(sorted({seed for row in rows for seed in row}))}
    values = np.full((len(rows), len(column)), np.nan)
    for number, row in enumerate(rows):
        for seed, value in row.items():
            if not math.isfinite(value):
                raise RecordError(f"seed {seed} has the value {value}, which cannot be compared; a number is needed.")
            values[number, column[seed]] = value
    return values, column


def holm(ps: Floats, size: int | None = None) -> Floats:
    """Adjusted so that `p <= alpha` holds for any true null of the family in at most alpha of all families.

    NaN stays NaN: with a size, questions that were not answered count as not rejected. No independence is assumed.
    """
    order = np.argsort(ps, kind="stable")[: np.count_nonzero(~np.isnan(ps))]
    adjusted = np.full(len(ps), np.nan)
    steps = (size or len(order)) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(ps[order] * steps))
    return adjusted


def levels(ps: Floats, size: int, alpha: float = ALPHA) -> Floats:
    """For each of a family the largest p with which Holm would reject it, all others as they are.

    It is alpha / (size - k), where k of the others are rejected one after the other, the smallest first.
    """
    steps = alpha / np.maximum(size - np.arange(len(ps)), 1)  # fewer than size are known, the rest is NaN
    rejected = []
    for number in range(len(ps)):
        others = np.sort(np.delete(ps, number))  # NaN last
        rejected.append(np.argmin([*(others <= steps[: len(others)]), False]))
    return steps[rejected]


def false_discovery_rates(ps: Floats) -> Floats:
    """Benjamini and Hochberg's q: of all differences with `q <= x` a share of at most x is expected to be none.

    NaN stays NaN. Holds for independent p-values and for those that rise together, as of measures of one run.
    """
    order = np.argsort(ps, kind="stable")[: np.count_nonzero(~np.isnan(ps))]
    rates = np.full(len(ps), np.nan)
    each = ps[order] * len(order) / np.arange(1, len(order) + 1)
    rates[order] = np.minimum.accumulate(each[::-1])[::-1]
    return rates


@lru_cache(maxsize=2**16)
def t_quantile(n: int, alpha: float = ALPHA) -> float:
    """How many standard errors the interval of a mean of n values reaches to either side."""
    return float(special.stdtrit(n - 1, 1 - alpha / 2))


def half_width(sd: float, n: int, alpha: float = ALPHA) -> float:
    """Half of the interval that holds the true mean in 1 - alpha of repetitions, of n values with this spread."""
    return t_quantile(n, alpha) * sd / math.sqrt(n)


def power(difference: float, sd: float, n: int, alpha: float = ALPHA, least: float = 0.0) -> float:
    """The chance that the two-sided test confirms a true difference of this size, with its right sign.

    `least`: a smaller mean is not confirmed, whatever its p; the chance is at most that of a larger one.
    t of a true difference is noncentral, with parameter difference / (sd / sqrt(n)). `sd` is taken as the true one.
    """
    shift = abs(difference) * math.sqrt(n) / sd
    missed = float(special.nctdtr(n - 1, shift, t_quantile(n, alpha)))
    found = 1.0 if math.isnan(missed) else 1 - missed  # scipy's series ends in NaN where the chance is below 1e-190
    return min(found, float(special.ndtr(shift - least * math.sqrt(n) / sd))) if least else found


def seeds_for(difference: float, sd: float, alpha: float = ALPHA) -> int | None:
    """The fewest seeds with which a true difference of this size is confirmed with power `AIM`; at least `MINIMUM`.

    None if more than `MOST` would be needed.
    """
    counts = range(MINIMUM, MOST + 1)
    first = bisect_left(counts, True, key=lambda n: power(difference, sd, n, alpha) >= AIM)
    return counts[first] if first < len(counts) else None


Better = Literal["higher", "lower"]
Unpairable = Mapping[tuple[str, str], Collection[int]]
"""Seeds at which two rows may not be paired, by the rows' names in order; see `pairing.unpairable`."""


@dataclass(frozen=True)
class Rank:
    """A row's rank among the rows of its column."""

    rank: int
    """1 + the number of rows that are significantly better."""
    tied_with: tuple[str, ...]
    """Rows without a significant difference from it. Not transitive: A may be tied with B, and B with C, but not A
    with C."""
    beaten_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """The ranks on one column, and which rows are marked best."""

    ranks: Mapping[str, Rank]
    """By row; none of a row without values."""
    best: Set[str]
    """Rows with a star: no row is significantly better, and every row with a better mean has a star too. None where
    all rows are tied."""

    @property
    def decided(self) -> bool:
        """Whether any difference is significant."""
        return any(rank.rank > 1 for rank in self.ranks.values())


def ranking(
    values: Mapping[str, BySeed], better: Better | Literal["neither"] = "higher", unpairable: Unpairable | None = None
) -> Ranking:
    """The ranking of rows by their values by seed; empty where the column ranks nothing.

    All pairs of rows are compared, and adjusted by Holm as one family. Rows without values have no rank.
    """
    if better == "neither":
        return Ranking({}, frozenset())
    rows = sorted(name for name, by_seed in values.items() if by_seed)
    matrix, column = as_matrix([values[name] for name in rows])
    first, second = np.triu_indices(len(rows), 1)
    ours = matrix[first]
    pair_number = {pair: number for number, pair in enumerate(combinations(rows, 2))}
    for pair, seeds in (unpairable or {}).items():
        if pair in pair_number:
            ours[pair_number[pair], [column[seed] for seed in seeds if seed in column]] = np.nan
    compared = compare_arrays(ours, matrix[second])
    p = holm(np.where(compared.n < MINIMUM, np.nan, compared.p))
    significant = p <= ALPHA
    first_is_ahead = (compared.difference > 0) == (better == "higher")
    losers = np.where(first_is_ahead, second, first)[significant]
    winners = np.where(first_is_ahead, first, second)[significant]
    behind = np.zeros((len(rows), len(rows)), bool)
    behind[losers, winners] = True
    tied = np.zeros((len(rows), len(rows)), bool)
    tied[first, second] = tied[second, first] = ~significant
    ranks = {}
    for n, name in enumerate(rows):
        beaten_by = tuple(compress(rows, behind[n]))
        ranks[name] = Rank(1 + len(beaten_by), tuple(compress(rows, tied[n])), beaten_by)
    return Ranking(ranks, _best(ranks, values, 1 if better == "higher" else -1))


def _best(ranks: Mapping[str, Rank], values: Mapping[str, BySeed], sign: int) -> Set[str]:
    """Rows of rank 1 whose mean is not below that of a row of another rank; none where all have rank 1."""
    means = {name: sign * fmean(values[name].values()) for name in ranks}
    beaten = [means[name] for name, rank in ranks.items() if rank.rank > 1]
    return {name for name, rank in ranks.items() if beaten and rank.rank == 1 and means[name] >= max(beaten)}
