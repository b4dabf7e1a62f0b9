"""Ranking the rows of one column by significance: all ranks, stars and bold numbers come from here."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from itertools import combinations, compress
from statistics import fmean
from typing import Literal

import numpy as np

from benchsuite.analysis.stats import ALPHA, MINIMUM, BySeed, as_matrix, compare_arrays, holm

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
    values: Mapping[str, BySeed],
    better: Better | Literal["neither"] = "higher",
    unpairable: Unpairable | None = None,
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
