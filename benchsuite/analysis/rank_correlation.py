"""Do our rows stand in the published order? Kendall's tau-b, with an interval over seeds, and p against chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations

import numpy as np

from benchsuite.analysis.stats import ALPHA, MINIMUM, ROUNDING, Floats, Ints
from benchsuite.streams import numpy_stream

ROWS = 3
"""Rows below which an order says nothing."""
RESAMPLES = 5_000
"""Bootstrap samples of the seeds."""
MOST_ORDERED = 8
"""Rows of which all orders are looked at: 40,320. Of more, so many are drawn:"""
ORDERS = 20_000


@dataclass(frozen=True)
class Agreement:
    """1: our means stand in the published order; -1: in the opposite one. `reason` says why there is no number."""

    tau: float | None = None
    low: float | None = None
    high: float | None = None
    """Ends of the percentile interval of a bootstrap over seeds, not over rows: these rows are what the paper printed.
    With few seeds it is too narrow."""
    p: float | None = None
    """Share of all orders of our rows whose tau is as high or higher: one-sided, as the paper's order is expected."""
    rows: int = 0
    """Rows with a published number and ours."""
    seeds: tuple[int, ...] = ()
    """Seeds that all these rows have: the means are over them."""
    reason: str = ""


def kendall(
    published: Sequence[float | None], measured: Sequence[Mapping[int, float]], alpha: float = ALPHA
) -> Agreement:
    """Agreement of the published numbers with ours, row by row; seeds are resampled jointly for all rows."""
    rows = [(theirs, ours) for theirs, ours in zip(published, measured, strict=True) if theirs is not None and ours]
    if len(rows) < ROWS:
        have = "1 row has" if len(rows) == 1 else f"{len(rows)} rows have"
        return Agreement(rows=len(rows), reason=f"{have} both numbers; an order needs at least {ROWS}")
    seeds = tuple(sorted(set.intersection(*(set(ours) for _, ours in rows))))
    agreement = Agreement(rows=len(rows), seeds=seeds)
    if not seeds:
        return replace(agreement, reason="no seed is shared by all rows")
    theirs = np.array([number for number, _ in rows])
    values = np.array([[ours[seed] for seed in seeds] for _, ours in rows])  # [rows, seeds]
    means = values.mean(axis=1)
    for whose, numbers in (("published numbers", theirs), ("of our means", means)):
        if not _signs(numbers).any():
            return replace(agreement, reason=f"all {whose} are equal: there is no order")
    agreement = replace(agreement, tau=float(tau_b(theirs, means)), p=_p(theirs, means))
    n = len(seeds)
    if n < MINIMUM:
        have = "1 shared seed" if n == 1 else f"{n} shared seeds"
        return replace(agreement, reason=f"{have}; an interval needs at least {MINIMUM}")
    drawn = numpy_stream(0, "agreement", n).integers(n, size=(RESAMPLES, n))
    taus = tau_b(theirs, values[:, drawn].mean(axis=2).T)
    low, high = np.quantile(taus, (alpha / 2, 1 - alpha / 2), method="inverted_cdf").tolist()
    return replace(agreement, low=low, high=high)


def tau_b(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b of `x` [rows] with each line of `y` [..., rows]; 0 where all of a line are tied.

    That of `scipy.stats.kendalltau`, for thousands of lines at once.
    """
    a, b = _signs(x), _signs(y)
    pairs = np.sqrt(np.count_nonzero(a) * np.count_nonzero(b, axis=0))
    taus: Floats = np.divide(np.tensordot(a, b, 1), pairs, out=np.zeros(pairs.shape), where=pairs > 0)
    return taus


def _p(x: Floats, y: Floats) -> float:
    """How often a random order of `y` agrees as much with `x`; only the ties of the two decide what can occur."""
    null = _null(*(tuple(sorted(_levels(values).tolist())) for values in (x, y)))
    a, b = (np.sign(np.subtract.outer(each, each)) for each in (_levels(x), _levels(y)))
    above = len(null) - int(np.searchsorted(null, (a * b).sum()))
    return above / len(null) if len(x) <= MOST_ORDERED else (1 + above) / (1 + len(null))


@lru_cache(maxsize=256)
def _null(x: tuple[int, ...], y: tuple[int, ...]) -> Ints:
    """Concordant minus discordant ordered pairs, for all orders of `y` or for drawn ones, rising."""
    n = len(x)
    if n <= MOST_ORDERED:
        orders = np.array(list(permutations(range(n))))
    else:
        orders = numpy_stream(0, "agreement", "orders", n).permuted(np.tile(np.arange(n), (ORDERS, 1)), axis=1)
    values = np.array(y)[orders]
    agreed = np.zeros(len(orders), np.int64)
    for first, second in zip(*np.triu_indices(n, 1), strict=True):
        agreed += 2 * np.sign(x[first] - x[second]) * np.sign(values[:, first] - values[:, second])
    return np.sort(agreed)


def _levels(values: Floats) -> Ints:
    """How many values are below each; what differs by rounding alone is tied."""
    below: Ints = (np.subtract.outer(values, values) > ROUNDING * np.abs(values).max()).sum(axis=1)
    return below


def _signs(values: Floats) -> Floats:
    """Which of two rows is above the other, [pairs of rows, ...]; what differs by rounding alone is tied."""
    rows = np.ascontiguousarray(np.moveaxis(values, -1, 0))
    gaps = np.concatenate([row - rows[number + 1 :] for number, row in enumerate(rows)])
    least = ROUNDING * np.abs(rows).max()
    signs: Floats = np.subtract(gaps > least, gaps < -least, dtype=np.float64)
    return signs
