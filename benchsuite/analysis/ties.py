"""Places on one column: who is ahead of whom beyond doubt. Ranks, stars and bold come from here alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from benchsuite.analysis.paired import ALPHA, adjusted, compare

Better = Literal["higher", "lower"]


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


def tie_groups(
    values: Mapping[str, Mapping[int, float]], better: Better = "higher", alpha: float = ALPHA
) -> dict[str, Rank]:
    """Each row's rank from its values by seed, of all pairs of rows compared and adjusted by Holm as one family.

    Rows without values have no rank.
    """
    rows = sorted(name for name, by_seed in values.items() if by_seed)
    duels = list(combinations(rows, 2))
    pairs = [compare(values[a], values[b], alpha) for a, b in duels]
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


def is_ahead(difference: float | None, better: Better) -> bool:
    """Whether ours minus theirs speaks for ours."""
    return difference is not None and (difference > 0 if better == "higher" else difference < 0)
