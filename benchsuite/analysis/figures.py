"""The arithmetic of paired comparisons, of thousands at once: mean difference, its spread, p, and Holm's correction."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

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
