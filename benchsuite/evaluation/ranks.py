"""Ranks of the right answers. Ties are decided here alone, always against the model.

Scores are those of `exact_scores`, to the last bit. A matrix product in double precision decides nearly all
comparisons; the pairs within its largest possible error are scored one by one.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.evaluation.exact_scores import ExactSide, pair_scores, radius

BLOCK = 1024
"""Largest number of queries in a block."""
SCORES = 8_000_000
"""Largest number of similarities in a block: 64 MB in double precision, with a few copies."""
ACCELERATOR = 8
"""On a GPU, blocks have this many times more rows and columns."""


def block_rows(columns: int) -> int:
    """Number of queries in a block, given the number of candidates."""
    return max(1, min(BLOCK, SCORES // max(columns, 1)))


def not_below(scores: Tensor, right: Tensor) -> Tensor:
    """Mask of candidates that do not score below the right one. Ties and NaN count against the model."""
    return ~(scores < right)


def ranks_of_columns(queries: Tensor, candidates: Tensor, target: Tensor) -> NDArray[np.int32]:
    """For each query, the rank of candidate `target[i]` by similarity; 1 is best.

    Every other candidate that does not score lower ranks before it. So a collapsed model, or one that gives NaN, scores
    at chance or below, not at 100 %.
    """
    pairs = torch.stack([torch.arange(len(queries), device=queries.device), target.to(queries.device).long()])
    return _ranks(queries, candidates, pairs, both=False)[0]


def ranks_both_ways(queries: Tensor, candidates: Tensor, group: Tensor) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """For each query i, the best rank among its own candidates (`group == i`); for each candidate, its query's rank.

    Ties with others count against it. Its own other candidates never rank before a query's best one. A candidate of no
    query is a competitor alone.
    """
    group = group.to(queries.device).long()
    own = ((group >= 0) & (group < len(queries))).nonzero().flatten()
    first, second = _ranks(queries, candidates, torch.stack([group[own], own]), both=True)
    return first, second


class Way:
    """The search of one side's queries among the other side's candidates: how many do not score below the right one."""

    def __init__(self, queries: ExactSide, candidates: ExactSide, pairs: Tensor, scores: Tensor) -> None:
        """Of `pairs` [2, P], query and own candidate, and their scores, the best counts."""
        self.queries, self.candidates = queries, candidates
        query, candidate = pairs
        device, count = scores.device, len(queries.values)
        self.right = torch.full((count,), -torch.inf, dtype=torch.float64, device=device)
        self.right.scatter_reduce_(0, query, scores, "amax")
        self.right[query[scores.isnan()]] = torch.nan
        self.best = torch.full((count,), -1, device=device)
        best = scores == self.right[query]
        self.best[query[best]] = candidate[best]
        self.counts = torch.ones(count, dtype=torch.long, device=device)

    def count(self, scores: Tensor, own: tuple[Tensor, Tensor], rows: slice, columns: slice) -> None:
        """Count a block of products, but for those of own candidates, which are at `own`."""
        width = self.queries.values.shape[1]
        error = radius(self.queries.lengths[rows], self.candidates.lengths[columns].max(), width)
        low, high = (self.right[rows] + sign * error for sign in (-1, 1))
        above, decided = scores > high[:, None], scores < low[:, None]
        decided |= above
        above[own] = False
        decided[own] = True
        self.counts[rows] += above.sum(1)
        query, candidate = decided.logical_not_().nonzero(as_tuple=True)
        if len(query):
            self._settle(query + rows.start, candidate + columns.start)

    def _settle(self, query: Tensor, candidate: Tensor) -> None:
        """Count pairs that the product left open: those that are known to tie or to be no numbers count."""
        known = self.queries.nan[query] | self.candidates.nan[candidate] | self.right[query].isnan()
        # Without an own candidate, all count anyway.
        known |= self.candidates.same[candidate] == self.candidates.same[self.best[query]]
        known |= self.queries.zero[query]
        self.counts += query[known].bincount(minlength=len(self.counts))
        query, candidate = query[~known], candidate[~known]
        exact = pair_scores(self.queries.values, self.candidates.values, query, candidate)
        self.counts += query[not_below(exact, self.right[query])].bincount(minlength=len(self.counts))

    def ranks(self) -> NDArray[np.int32]:
        return self.counts.cpu().numpy().astype(np.int32)


@torch.no_grad()
def _ranks(queries: Tensor, candidates: Tensor, pairs: Tensor, both: bool) -> list[NDArray[np.int32]]:
    """Of the queries and, if asked, of the candidates. `pairs` [2, P] are right for both."""
    a, b = ExactSide(queries, SCORES), ExactSide(candidates, SCORES)
    scores = pair_scores(queries, candidates, pairs[0], pairs[1])
    ways = [Way(a, b, pairs, scores)]
    if both:
        ways.append(Way(b, a, pairs.flip(0), scores))
    if not len(queries) or not len(candidates):
        return [way.ranks() for way in ways]
    high, wide = _block_shape(len(queries), len(candidates), queries.device)
    own = OwnPairs(pairs, high, wide, len(candidates))
    for top in range(0, len(queries), high):
        rows = slice(top, min(top + high, len(queries)))
        left_side = a.double(rows)
        for left in range(0, len(candidates), wide):
            columns = slice(left, min(left + wide, len(candidates)))
            block, (row, column) = torch.mm(left_side, b.double(columns).T), own.within(top, left)
            ways[0].count(block, (row, column), rows, columns)
            for way in ways[1:]:
                way.count(block.T, (column, row), columns, rows)
    return [way.ranks() for way in ways]


def _block_shape(rows: int, columns: int, device: torch.device) -> tuple[int, int]:
    """Rows and columns of a block that stays in a processor's cache."""
    factor = 1 if device.type == "cpu" else ACCELERATOR
    scores = min(BLOCK**2, SCORES) * factor**2
    wide = min(columns, BLOCK * factor, scores)
    return min(rows, max(1, scores // wide)), wide


class OwnPairs:
    """The right pairs of each block."""

    def __init__(self, pairs: Tensor, high: int, wide: int, columns: int) -> None:
        self._shape, self._across = (high, wide), -(-columns // wide)
        blocks = pairs[0] // high * self._across + pairs[1] // wide
        order = blocks.argsort()
        self._pairs = pairs[:, order]
        self._ends = [0, *blocks.bincount().cumsum(0).tolist()]

    def within(self, top: int, left: int) -> tuple[Tensor, Tensor]:
        """Rows and columns inside the block."""
        number = top // self._shape[0] * self._across + left // self._shape[1]
        start, end = (self._ends[min(i, len(self._ends) - 1)] for i in (number, number + 1))
        return self._pairs[0, start:end] - top, self._pairs[1, start:end] - left
