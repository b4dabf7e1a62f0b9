"""Do our rows stand in the published order? Kendall's tau-b, with an interval over seeds."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from benchsuite.analysis.stats import ALPHA, MINIMUM, ROUNDING, Floats
from benchsuite.streams import numpy_stream

ROWS = 3
"""Rows below which an order says nothing."""
EXACT = 7
"""Seeds up to which all n^n resamples are counted; beyond, `DRAWN` random ones."""
DRAWN = 5_000


@dataclass(frozen=True)
class Agreement:
    """1: our means stand in the published order; -1: in the opposite one. `reason` says why there is no number."""

    tau: float | None = None
    low: float | None = None
    high: float | None = None
    """Ends of the interval from resampling seeds, not rows: these rows are what the paper printed. With few seeds it is
    too narrow."""
    rows: int = 0
    """Rows with a published number and ours."""
    seeds: tuple[int, ...] = ()
    """Seeds that all these rows have: the means are over them."""
    skipped: tuple[int, ...] = ()
    """Seeds that only some of these rows have."""
    exact: bool = True
    """Whether all resamples of the seeds were counted."""
    reason: str = ""


def kendall(
    published: Sequence[float | None], measured: Sequence[Mapping[int, float]], alpha: float = ALPHA
) -> Agreement:
    """Agreement of the published numbers with ours, row by row; seeds are resampled jointly for all rows."""
    rows = [(theirs, ours) for theirs, ours in zip(published, measured, strict=True) if theirs is not None and ours]
    if len(rows) < ROWS:
        have = "1 row has" if len(rows) == 1 else f"{len(rows)} rows have"
        return Agreement(rows=len(rows), reason=f"{have} both numbers; an order takes at least {ROWS}")
    every = [set(ours) for _, ours in rows]
    seeds = tuple(sorted(set.intersection(*every)))
    bare = Agreement(rows=len(rows), seeds=seeds, skipped=tuple(sorted(set.union(*every) - set(seeds))))
    if not seeds:
        return replace(bare, reason="no seed is common to all rows")
    theirs = np.array([number for number, _ in rows])
    values = np.array([[ours[seed] for seed in seeds] for _, ours in rows])  # [rows, seeds]
    means = values.mean(axis=1)
    for whose, numbers in (("published numbers", theirs), ("of our means", means)):
        if not _signs(numbers).any():
            return replace(bare, reason=f"all {whose} are equal: there is no order")
    agreement = replace(bare, tau=float(tau_b(theirs, means)))
    if len(seeds) < MINIMUM:
        have = "1 seed" if len(seeds) == 1 else f"{len(seeds)} seeds"
        return replace(agreement, reason=f"{have} in common; an interval takes at least {MINIMUM}")
    shares, chances = _draws(len(seeds))
    low, high = _ends(tau_b(theirs, shares @ values.T), chances, alpha / 2)
    return replace(agreement, low=low, high=high, exact=len(seeds) <= EXACT)


def tau_b(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b of `x` [rows] with each line of `y` [..., rows]; 0 where all of a line are tied."""
    a, b = _signs(x), _signs(y)
    pairs = np.sqrt(np.count_nonzero(a) * np.count_nonzero(b, axis=0))
    taus: Floats = np.divide(np.tensordot(a, b, 1), pairs, out=np.zeros(pairs.shape), where=pairs > 0)
    return taus


def _signs(values: Floats) -> Floats:
    """Which of two rows is above the other, [pairs of rows, ...]; what differs by rounding alone is tied."""
    rows = np.ascontiguousarray(np.moveaxis(values, -1, 0))
    gaps = np.concatenate([row - rows[number + 1 :] for number, row in enumerate(rows)])
    least = ROUNDING * np.abs(rows).max()
    signs: Floats = np.subtract(gaps > least, gaps < -least, dtype=np.float64)
    return signs


@lru_cache(maxsize=64)
def _draws(n: int) -> tuple[Floats, Floats]:
    """Ways of drawing n seeds of n: the share of each seed [draws, n], and each way's chance [draws]."""
    if n > EXACT:
        shares = numpy_stream(0, "agreement", n).multinomial(n, [1 / n] * n, size=DRAWN) / n
        return shares, np.full(DRAWN, 1 / DRAWN)
    ways = [Counter(way) for way in combinations_with_replacement(range(n), n)]
    shares = np.array([[way[seed] / n for seed in range(n)] for way in ways])
    orders = [math.factorial(n) / math.prod(map(math.factorial, way.values())) for way in ways]
    return shares, np.array(orders) / n**n


def _ends(values: Floats, chances: Floats, share: float) -> tuple[float, float]:
    """The least and the greatest value that at least `share` of the chances do not exceed, or do not fall below."""
    order = np.argsort(values)
    rising, least = values[order], np.searchsorted(np.cumsum(chances[order]), share)
    return float(rising[least]), float(rising[::-1][np.searchsorted(np.cumsum(chances[order[::-1]]), share)])
