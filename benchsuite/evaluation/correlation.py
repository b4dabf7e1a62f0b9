"""Spearman's correlation from doubled average ranks: whole numbers, stored beside the record."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ranks = NDArray[np.integer[Any]]


def doubled_ranks(values: ArrayLike, least: float = 0.0) -> Ranks:
    """Twice the average rank of each value, lowest first. All values tie if their range is below `least`."""
    from scipy.stats import rankdata

    numbers = np.asarray(values, np.float64)
    constant = np.ptp(numbers) < least
    return np.asarray(2 * rankdata(np.zeros_like(numbers) if constant else numbers)).astype(np.int32)


def correlation(left: Ranks, right: Ranks) -> float:
    """Pearson's correlation of two rows of ranks; 0 where either is constant."""
    a, b = (ranks - ranks.mean() for ranks in (left, right))
    scale = float(a @ a) * float(b @ b)
    return float(a @ b) / scale**0.5 if scale else 0.0
