"""What so many seeds with this spread can confirm: power of the paired t-test."""

import math
from bisect import bisect_left

from scipy import special

from benchsuite.analysis.stats import ALPHA, MINIMUM, t_quantile

AIM = 0.8
"""The power that a number of seeds is planned for."""
MOST = 10_000
"""Seeds beyond which `seeds_for` stops looking."""


def power(difference: float, sd: float, n: int, alpha: float = ALPHA) -> float:
    """The chance that the two-sided test confirms a true difference of this size, with its right sign.

    t of a true difference is noncentral, with parameter difference / (sd / sqrt(n)). `sd` is taken as the true one.
    """
    shift = abs(difference) * math.sqrt(n) / sd
    missed = float(special.nctdtr(n - 1, shift, t_quantile(n, alpha)))
    return 1.0 if math.isnan(missed) else 1 - missed  # scipy's series ends in NaN where the chance is below 1e-190


def seeds_for(difference: float, sd: float, alpha: float = ALPHA, aim: float = AIM) -> int | None:
    """The fewest seeds with which a true difference of this size is confirmed with power `aim`; at least `MINIMUM`.

    None if more than `MOST` would be needed.
    """
    counts = range(MINIMUM, MOST + 1)
    first = bisect_left(counts, True, key=lambda n: power(difference, sd, n, alpha) >= aim)
    return counts[first] if first < len(counts) else None
