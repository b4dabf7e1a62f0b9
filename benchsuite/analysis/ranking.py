"""Ranking the rows of one column by significance: ranks, stars and bold on every page come from here alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Literal

import numpy as np

from benchsuite.analysis.stats import ALPHA, MINIMUM, Bools, BySeed, Ints, as_matrix, compare_arrays, holm

Better = Literal["higher", "lower"]
Unpairable = Mapping[tuple[str, str], Collection[int]]
"""Seeds at which two rows may not be paired, by the rows' names in order; see `pairing.unpairable`."""


@dataclass(frozen=True)
class Rank:
    """A row's rank among the rows of its column."""

    rank: int
    """1 + the number of rows that are significantly better."""
    tied_with: tuple[str, ...]
    """Rows that differ from it by nothing significant. Not transitive: A may be tied with B, and B with C, but not A
    with C."""
    unjudged: tuple[str, ...]
    """Those of `tied_with` that share too few seeds with it for any verdict."""

    @property
    def best(self) -> bool:
        """Whether no row is significantly better. The row with the best mean is not significantly better either."""
        return self.rank == 1


@dataclass(frozen=True)
class Ranking:
    """The ranks on one column, and which rows are marked best."""

    ranks: Mapping[str, Rank]
    """By row; none of a row without values."""

    @cached_property
    def decided(self) -> bool:
        """Whether any difference is significant: where all rows are tied, none is best."""
        return any(not rank.best for rank in self.ranks.values())

    def is_best(self, name: str) -> bool:
        """Whether no other row is significantly better, where any difference is significant."""
        return self.decided and name in self.ranks and self.ranks[name].best


def ranking(
    values: Mapping[str, BySeed],
    better: Better | Literal["neither"] = "higher",
    unpairable: Unpairable | None = None,
    alpha: float = ALPHA,
) -> Ranking:
    """The ranking of rows by their values by seed; empty where the column ranks nothing.

    All pairs of rows are compared, and adjusted by Holm as one family. Rows without values have no rank.
    """
    if better == "neither":
        return Ranking({})
    rows = sorted(name for name, by_seed in values.items() if by_seed)
    matrix, column = as_matrix([values[name] for name in rows])
    first, second = np.triu_indices(len(rows), 1)
    ours = matrix[first]
    for pair, seeds in _by_number(unpairable or {}, rows).items():
        ours[_pair_number(*pair, len(rows)), [column[seed] for seed in seeds if seed in column]] = np.nan
    compared = compare_arrays(ours, matrix[second])
    p = holm(np.where(compared.n < MINIMUM, np.nan, compared.p))
    significant = p <= alpha
    first_is_ahead = (compared.difference > 0) == (better == "higher")
    losers = np.where(first_is_ahead, second, first)[significant]
    better_rows = np.bincount(losers, minlength=len(rows)).tolist()
    tied, unjudged = (_opposite(chosen, first, second, rows) for chosen in (~significant, np.isnan(p)))
    return Ranking({name: Rank(1 + better_rows[n], tied[n], unjudged[n]) for n, name in enumerate(rows)})


def _by_number(unpairable: Unpairable, rows: list[str]) -> dict[tuple[int, int], Collection[int]]:
    number = {name: n for n, name in enumerate(rows)}
    return {(number[a], number[b]): seeds for (a, b), seeds in unpairable.items() if a in number and b in number}


def _pair_number(first: int, second: int, rows: int) -> int:
    """Which of `np.triu_indices(rows, 1)` is this pair."""
    return first * rows - first * (first + 1) // 2 + second - first - 1


def _opposite(chosen: Bools, first: Ints, second: Ints, rows: list[str]) -> list[tuple[str, ...]]:
    """For each row, the rows that it forms a chosen pair with."""
    paired = np.zeros((len(rows), len(rows)), bool)
    paired[first[chosen], second[chosen]] = paired[second[chosen], first[chosen]] = True
    return [tuple(compress(rows, line)) for line in paired.tolist()]
