"""Ranking on one column: who is ahead of whom beyond doubt. Ranks, stars and bold come from here alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Literal

import numpy as np

from benchsuite.analysis.stats import ALPHA, MINIMUM, Bools, Figures, Ints, figures, holm_adjusted, require_numbers

Better = Literal["higher", "lower"]
Apart = Mapping[tuple[str, str], Collection[int]]
"""Seeds at which two rows may not be paired, by their names in order; see `benchsuite.analysis.pairing.apart`."""
TOGETHER: Apart = {}
"""All rows may be paired at all seeds."""


@dataclass(frozen=True)
class Rank:
    """A row's place among the rows of its column."""

    rank: int
    """1 + the number of rows that separably beat it."""
    tied_with: tuple[str, ...]
    """Rows it is not separable from, by name. Not transitive: A may be tied with B, and B with C, but not A with C."""
    unjudged: tuple[str, ...]
    """Those of `tied_with` with which too few seeds are shared for any verdict: nothing speaks for the tie either."""

    @property
    def best(self) -> bool:
        """Whether no row separably beats it. It is then not separable from the row with the best mean either."""
        return self.rank == 1


@dataclass(frozen=True)
class Ranking:
    """The ranks on one column, and which rows are marked best: the one place that every page and file asks."""

    ranks: Mapping[str, Rank]
    """By row; none of a row without values."""

    @cached_property
    def decided(self) -> bool:
        """Whether any row is beaten: where all are tied, none is best."""
        return any(not rank.best for rank in self.ranks.values())

    def is_best(self, name: str) -> bool:
        """Whether no other row beats it, and some row could be told from another."""
        return self.decided and name in self.ranks and self.ranks[name].best


def places(
    values: Mapping[str, Mapping[int, float]], better: Better | Literal["neither"], apart: Apart = TOGETHER
) -> Ranking:
    """The places on a column from its rows' values by seed; nobody has one where the column ranks nothing."""
    return Ranking({} if better == "neither" else tie_groups(values, better, apart=apart))


def tie_groups(
    values: Mapping[str, Mapping[int, float]],
    better: Better = "higher",
    alpha: float = ALPHA,
    apart: Apart = TOGETHER,
) -> dict[str, Rank]:
    """Each row's rank from its values by seed, of all pairs of rows compared and adjusted by Holm as one family.

    Rows without values have no rank. `apart` leaves seeds out of the comparison of two rows.
    """
    rows = sorted(name for name, by_seed in values.items() if by_seed)
    one, other, found = _duels([values[name] for name in rows], _by_number(apart, rows))
    p = holm_adjusted(np.where(found.n < MINIMUM, np.nan, found.p))
    decided = p <= alpha
    ahead = (found.difference > 0) == (better == "higher")
    beaten = np.bincount(np.where(ahead, other, one)[decided], minlength=len(rows))
    tied, unjudged = (_sides(some, one, other, rows) for some in (~decided, np.isnan(p)))
    numbers = {name: number for number, name in enumerate(rows)}
    return {
        name: Rank(1 + int(beaten[number]), tied[number], unjudged[number])
        for name in values
        if (number := numbers.get(name)) is not None
    }


def _duels(
    rows: Sequence[Mapping[int, float]], apart: Mapping[tuple[int, int], Collection[int]]
) -> tuple[Ints, Ints, Figures]:
    """All pairs of rows by their numbers, the lesser first, and what their values over common seeds say."""
    place = {seed: number for number, seed in enumerate(sorted({seed for row in rows for seed in row}))}
    table = np.full((len(rows), len(place)), np.nan)
    for number, row in enumerate(rows):
        require_numbers(row)
        for seed, value in row.items():
            table[number, place[seed]] = value
    one, other = np.triu_indices(len(rows), 1)
    there = ~np.isnan(table)
    shared = there[one] & there[other]
    for (a, b), seeds in apart.items():
        duel = a * len(rows) - a * (a + 1) // 2 + b - a - 1  # the number of pair (a, b) among those of triu_indices
        shared[duel, [place[seed] for seed in seeds if seed in place]] = False
    return one, other, figures(table[one], table[other], shared)


def _by_number(apart: Apart, rows: Sequence[str]) -> dict[tuple[int, int], Collection[int]]:
    number = {name: n for n, name in enumerate(rows)}
    return {(number[a], number[b]): seeds for (a, b), seeds in apart.items() if a in number and b in number}


def _sides(chosen: Bools, one: Ints, other: Ints, rows: Sequence[str]) -> list[tuple[str, ...]]:
    """For each row, by number, those on the other side of the chosen pairs."""
    beside = np.zeros((len(rows), len(rows)), bool)
    beside[one[chosen], other[chosen]] = beside[other[chosen], one[chosen]] = True
    return [tuple(compress(rows, line)) for line in beside.tolist()]


def is_ahead(difference: float | None, better: Better) -> bool:
    """Whether ours minus theirs speaks for ours."""
    return difference is not None and (difference > 0 if better == "higher" else difference < 0)
