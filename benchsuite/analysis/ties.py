"""Places on one column: who is ahead of whom beyond doubt. Ranks, stars and bold come from here alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

from benchsuite.analysis.paired import ALPHA, adjusted, compare

Better = Literal["higher", "lower"]
Apart = Mapping[tuple[str, str], Collection[int]]
"""Seeds at which two rows may not be paired, by their names in order; see `benchsuite.analysis.pairing.apart`."""
TOGETHER: Apart = {}
"""All rows may be paired at all seeds."""


@dataclass(frozen=True)
class Rank:
    """A row's place among the rows of its column."""

    place: int
    """1 + the number of rows that separably beat it."""
    tied_with: tuple[str, ...]
    """Rows it is not separable from, by name. Not transitive: A may be tied with B, and B with C, but not A with C."""
    unjudged: tuple[str, ...]
    """Those of `tied_with` with which too few seeds are shared for any verdict: nothing speaks for the tie either."""

    @property
    def best(self) -> bool:
        """Whether no row separably beats it. It is then not separable from the row with the best mean either."""
        return self.place == 1


@dataclass(frozen=True)
class Places:
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
) -> Places:
    """The places on a column from its rows' values by seed; nobody has one where the column ranks nothing."""
    return Places({} if better == "neither" else tie_groups(values, better, apart=apart))


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
    duels = list(combinations(rows, 2))
    left_out = [apart.get(duel, ()) for duel in duels]
    pairs = [
        compare(_without(values[a], seeds), _without(values[b], seeds), alpha)
        for (a, b), seeds in zip(duels, left_out, strict=True)
    ]
    beaten = dict.fromkeys(rows, 0)
    tied: dict[str, list[str]] = {name: [] for name in rows}
    unjudged: dict[str, list[str]] = {name: [] for name in rows}
    for (a, b), pair, p in zip(duels, pairs, adjusted(pairs), strict=True):
        if p is not None and p <= alpha:
            beaten[b if is_ahead(pair.difference, better) else a] += 1
            continue
        for one, other in ((a, b), (b, a)):
            tied[one].append(other)
            if p is None:
                unjudged[one].append(other)
    return {
        name: Rank(1 + beaten[name], tuple(sorted(tied[name])), tuple(sorted(unjudged[name])))
        for name in values
        if name in beaten
    }


def _without(values: Mapping[int, float], seeds: Collection[int]) -> Mapping[int, float]:
    return {seed: value for seed, value in values.items() if seed not in seeds} if seeds else values


def is_ahead(difference: float | None, better: Better) -> bool:
    """Whether ours minus theirs speaks for ours."""
    return difference is not None and (difference > 0 if better == "higher" else difference < 0)
