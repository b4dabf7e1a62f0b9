"""Do the rows of a column differ at all? Friedman's test over shared seeds; and how often a row is above another."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations

import numpy as np

from benchsuite.analysis.ranking import Better, Unpairable
from benchsuite.analysis.stats import ALPHA, MINIMUM, ROUNDING, BySeed, Floats, Ints
from benchsuite.streams import numpy_stream

ROWS = 3
"""Rows below which the question is that of a pair."""
PERMUTATIONS = 20_000
"""Drawn where all are too many: p then has a standard error of .0015 at .05."""
EXACT = 300_000
"""Most sums of ranks looked at for one more seed; with more, permutations are drawn."""
MOST_ORDERED = 7
"""Rows of which all orders are listed: 5,040."""
RESAMPLES = 5_000
"""Bootstrap samples of the seeds."""


@dataclass(frozen=True)
class Omnibus:
    """Friedman's test of one column: blocks are seeds. `reason` says why there is no number."""

    rows: int
    """Rows with values."""
    seeds: tuple[int, ...] = ()
    """Seeds that all of these have and at which all may be paired."""
    statistic: float | None = None
    """Friedman's chi-square, corrected for ties."""
    w: float | None = None
    """Kendall's W: 0 where each seed orders the rows in another way, 1 where all order them alike."""
    p: float | None = None
    """Of permutations of the rows within each seed, not of the chi-square distribution."""
    exact: bool = False
    """Whether p is of all permutations, and not of `PERMUTATIONS` drawn ones."""
    reason: str = ""


def friedman(values: Mapping[str, BySeed], unpairable: Unpairable | None = None) -> Omnibus:
    """Whether any row differs from any other, by the ranks of the rows within each seed; rows without values are left
    out. `unpairable`: see `pairing.unpairable`."""
    measured = {name: by_seed for name, by_seed in values.items() if by_seed}
    found = Omnibus(len(measured))
    if len(measured) < ROWS:
        have = "1 row has" if len(measured) == 1 else f"{len(measured)} rows have"
        return replace(found, reason=f"{have} values; the test needs at least {ROWS}")
    skipped = {seed for pair, seeds in (unpairable or {}).items() if measured.keys() >= set(pair) for seed in seeds}
    seeds = tuple(sorted(set.intersection(*(set(by_seed) for by_seed in measured.values())) - skipped))
    found = replace(found, seeds=seeds)
    if len(seeds) < MINIMUM:
        have = "1 seed is" if len(seeds) == 1 else f"{len(seeds)} seeds are"
        return replace(found, reason=f"{have} shared by all rows; the test needs at least {MINIMUM}")
    ranks = _doubled_ranks(np.array([[by_seed[seed] for by_seed in measured.values()] for seed in seeds]))
    n, k = ranks.shape
    spread = ((ranks - (k + 1)) ** 2).sum()
    if not spread:
        return replace(found, reason="all rows are equal on every seed")
    w = float(((ranks.sum(axis=0) - n * (k + 1)) ** 2).sum() / (n * spread))
    null = _null(tuple(sorted(tuple(sorted(block)) for block in ranks.tolist())))
    return replace(
        found, statistic=n * (k - 1) * w, w=w, p=null.p(int((ranks.sum(axis=0) ** 2).sum())), exact=null.exact
    )


def _doubled_ranks(values: Floats) -> Ints:
    """Twice the average ranks within each line [seeds, rows]: whole numbers; what differs by rounding alone is tied."""
    gaps = values[:, :, None] - values[:, None, :]
    least = ROUNDING * np.abs(values).max()
    below = (gaps > least).sum(axis=2)
    tied = (np.abs(gaps) <= least).sum(axis=2)
    ranks: Ints = 2 * below + tied + 1
    return ranks


@dataclass(frozen=True)
class _Null:
    """Sums of squared rank sums over permutations, rising, and how often each is reached or exceeded."""

    sums: Ints
    tails: Floats
    exact: bool

    def p(self, observed: int) -> float:
        at = int(np.searchsorted(self.sums, observed))
        if self.exact:
            return float(self.tails[at])
        return (1 + len(self.sums) - at) / (1 + len(self.sums))


@lru_cache(maxsize=1024)
def _null(blocks: tuple[tuple[int, ...], ...]) -> _Null:
    """Of rows that do not differ, whose ranks are these in each seed: without ties the same for all columns."""
    n, k = len(blocks), len(blocks[0])
    return (_all_permutations(blocks) if k <= MOST_ORDERED else None) or _drawn_permutations(blocks, n, k)


def _all_permutations(blocks: tuple[tuple[int, ...], ...]) -> _Null | None:
    """Seed by seed: which sums of ranks can occur, and how likely. Which row has which sum does not matter, so sums
    are sorted, and few remain. None where there are too many."""
    k = len(blocks[0])
    orders = np.array(list(permutations(range(k))))
    base = (2 * k * len(blocks) + 1) ** np.arange(k)
    sums, weights = np.array([blocks[0]]), np.ones(1)
    for block in blocks[1:]:
        if len(sums) * len(orders) > EXACT:
            return None
        every = np.sort((sums[:, None] + np.array(block)[orders]).reshape(-1, k), axis=1)
        _, first, which = np.unique(every @ base, return_index=True, return_inverse=True)
        weights = _summed(which, np.repeat(weights / len(orders), len(orders)))
        sums = every[first]
    squares, which = np.unique((sums**2).sum(axis=1), return_inverse=True)
    return _Null(squares, np.cumsum(_summed(which, weights)[::-1])[::-1], exact=True)


def _summed(which: Ints, weights: Floats) -> Floats:
    return np.asarray(np.bincount(which.ravel(), weights), np.float64)


def _drawn_permutations(blocks: tuple[tuple[int, ...], ...], n: int, k: int) -> _Null:
    sums = np.zeros((PERMUTATIONS, k), np.int64)
    for block, orders in zip(blocks, _drawn_orders(n, k), strict=True):
        sums += np.array(block)[orders]
    return _Null(np.sort((sums**2).sum(axis=1)), np.empty(0), exact=False)


@lru_cache(maxsize=4)
def _drawn_orders(n: int, k: int) -> Ints:
    """[seeds, permutations, rows]: the same for all columns, as narrow as they can be."""
    rng, rows = numpy_stream(0, "omnibus", n, k), np.tile(np.arange(k), (PERMUTATIONS, 1))
    return np.array([rng.permuted(rows, axis=1).astype(np.uint16) for _ in range(n)])


@dataclass(frozen=True)
class Improvement:
    """How often a run of the row is better than one of the reference."""

    probability: float
    """Share of all pairs of a run of each, whatever their seeds, in which the row's is better; ties count half."""
    low: float | None
    high: float | None
    """Ends of the percentile interval of a bootstrap over seeds, resampled jointly for both rows. With few seeds it is
    too narrow."""
    seeds: tuple[int, ...]
    """Seeds that both have and at which they may be paired."""


def improvement(ours: BySeed, theirs: BySeed, better: Better = "higher", alpha: float = ALPHA) -> Improvement | None:
    """The probability of improvement of Agarwal et al. (2021, "Deep reinforcement learning at the edge of the
    statistical precipice"), over the seeds of both; none if they share none.

    As there, runs are compared across seeds as well: it says how far two methods' runs overlap, and not whether their
    paired difference is significant.
    """
    seeds = tuple(sorted(ours.keys() & theirs.keys()))
    if not seeds:
        return None
    a, b = (np.array([row[seed] for seed in seeds]) for row in (ours, theirs))
    gaps = (a[:, None] - b) * (1 if better == "higher" else -1)
    least = ROUNDING * max(np.abs(a).max(), np.abs(b).max())
    wins = (gaps > least) + 0.5 * (np.abs(gaps) <= least)  # [ours, theirs]
    probability = float(wins.mean())
    if len(seeds) < MINIMUM:
        return Improvement(probability, None, None, seeds)
    times = _resamples(len(seeds))
    shares = ((times @ wins) * times).sum(axis=1) / len(seeds) ** 2
    low, high = np.quantile(shares, (alpha / 2, 1 - alpha / 2), method="inverted_cdf").tolist()
    return Improvement(probability, low, high, seeds)


@lru_cache(maxsize=64)
def _resamples(n: int) -> Floats:
    """How often each of n seeds is in each bootstrap sample, [samples, seeds]."""
    return numpy_stream(0, "improvement", n).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)
