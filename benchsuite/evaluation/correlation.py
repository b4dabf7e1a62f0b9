"""Spearman's correlation by way of whole numbers: average ranks, doubled, from which it follows and which are kept."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

Ranks = NDArray[np.integer[Any]]


def doubled_ranks(values: ArrayLike, least: float = 0.0) -> Ranks:
    """Twice the average rank of each value, lowest first; all alike where they spread over less than `least`."""
    found = np.asarray(values, np.float64)
    alike = np.ptp(found) < least
    return np.asarray(2 * rankdata(np.zeros_like(found) if alike else found)).astype(np.int32)


def correlation(one: Ranks, other: Ranks) -> float:
    """Pearson's correlation of two rows of ranks; 0 where either is constant."""
    a, b = (rows - rows.mean() for rows in (one, other))
    scale = float(a @ a) * float(b @ b)
    return float(a @ b) / scale**0.5 if scale else 0.0
