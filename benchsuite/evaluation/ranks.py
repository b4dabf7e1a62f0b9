"""Ranks of the right answers. Ties are decided here alone, always against the model.

Scores are those of `exact_scores`, to the last bit. A product in single precision decides nearly all comparisons; those
within its largest possible error are made in double precision.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.evaluation.exact_scores import Bound, ExactSide, full_precision, pair_scores, single
from benchsuite.evaluation.rank_metrics import recall

__all__ = ["best_ranks_of_groups", "block_rows", "ranks_both_ways", "ranks_of_columns", "recall"]

BLOCK = 1024
"""Largest number of queries in a block."""
SCORES = 8_000_000
"""Largest number of similarities in a block: 64 MB in double precision, with a few copies."""
ACCELERATOR = 8
"""On a GPU, blocks have this many times more rows and columns."""
COUNTED = 1 << 24
"""Rows of a block at most: single precision, in which they are counted, has all whole numbers up to it."""
DENSE = 64
"""If more than one in so many pairs of a block is undecided, a product in double precision comes first."""


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


def best_ranks_of_groups(queries: Tensor, candidates: Tensor, group: Tensor) -> NDArray[np.int32]:
    """For each query i, the best rank among its own candidates (`group == i`). Ties with others count against it.

    Its own other candidates never rank before its best one.
    """
    return _ranks(queries, candidates, _grouped(queries, group), both=False)[0]


def ranks_both_ways(queries: Tensor, candidates: Tensor, group: Tensor) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """`best_ranks_of_groups` of the queries, and `ranks_of_columns` of each candidate for its query, in one pass."""
    first, second = _ranks(queries, candidates, _grouped(queries, group), both=True)
    return first, second


def _grouped(queries: Tensor, group: Tensor) -> Tensor:
    """Each candidate with its query, [2, P]. Candidates of no query are in no pair."""
    group = group.to(queries.device).long()
    own = ((group >= 0) & (group < len(queries))).nonzero().flatten()
    return torch.stack([group[own], own])


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
        self.counts = not_below(self.right, self.right).long()
        self.bounds = {dtype: Bound(queries, candidates, dtype) for dtype in (torch.float32, torch.float64)}

    def count(self, scores: Tensor, flags: Tensor, rows: slice, columns: slice) -> None:
        """Count a block of single-precision scores, where those of own candidates are -inf. `flags` is scratch."""
        low, high = single(*self._limits(torch.float32, rows, columns))
        above = torch.gt(scores, high[:, None], out=flags).sum(1)
        below = torch.lt(scores, low[:, None], out=flags).sum(1)
        self.counts[rows] += above.long()
        unclear = (above + below < scores.shape[1]).nonzero().flatten()
        if len(unclear):
            self._settle(scores[unclear], low[unclear, None], high[unclear, None], unclear + rows.start, columns)

    def _limits(self, dtype: torch.dtype, rows: slice | Tensor, columns: slice) -> tuple[Tensor, Tensor]:
        longest = self.candidates.lengths[columns].max()
        return self.bounds[dtype].around(self.right[rows], self.queries.lengths[rows], longest)

    def _settle(self, scores: Tensor, low: Tensor, high: Tensor, rows: Tensor, columns: slice) -> None:
        """Count the undecided pairs of some queries with a block of candidates."""
        undecided = ~((scores < low) | (scores > high) | (scores == -torch.inf))
        if int(undecided.sum()) * DENSE > undecided.numel():
            undecided = self._in_double(undecided, rows, columns)
        row, column = undecided.nonzero(as_tuple=True)
        query = rows[row]
        exact = pair_scores(self.queries.values, self.candidates.values, query, column + columns.start, SCORES)
        self.counts.index_add_(0, query, not_below(exact, self.right[query]).long())

    def _in_double(self, undecided: Tensor, rows: Tensor, columns: slice) -> Tensor:
        """Count what a product in double precision decides, and pairs whose score is known; give back the others."""
        scores = self.queries.double(rows) @ self.candidates.double(columns).T
        low, high = (limit[:, None] for limit in self._limits(torch.float64, rows, columns))
        counted = undecided & (scores > high)
        undecided &= ~((scores < low) | (scores > high))
        right = self.right[rows]
        nan = self.queries.nan[rows][:, None] | self.candidates.nan[columns]
        counted |= undecided & nan & not_below(torch.full_like(right, torch.nan), right)[:, None]
        undecided &= ~nan
        # Without an own candidate, or beside infinite ones, all count anyway.
        tied = self.candidates.same[columns] == self.candidates.same[self.best[rows]][:, None]
        tied |= self.queries.zero[rows][:, None]
        tied |= right.isnan()[:, None]
        counted |= undecided & tied & not_below(right, right)[:, None]
        undecided &= ~tied
        self.counts[rows] += counted.sum(1)
        return undecided

    def ranks(self) -> NDArray[np.int32]:
        return self.counts.cpu().numpy().astype(np.int32)


@torch.no_grad()
def _ranks(queries: Tensor, candidates: Tensor, pairs: Tensor, both: bool) -> list[NDArray[np.int32]]:
    """Of the queries and, if asked, of the candidates. `pairs` [2, P] are right for both."""
    a, b = ExactSide(queries, SCORES), ExactSide(candidates, SCORES)
    scores = pair_scores(queries, candidates, pairs[0], pairs[1], SCORES)
    ways = [Way(a, b, pairs, scores)]
    if both:
        ways.append(Way(b, a, pairs.flip(0), scores))
    if not len(queries) or not len(candidates):
        return [way.ranks() for way in ways]
    high, wide = _block_shape(len(queries), len(candidates), queries.device)
    own = OwnPairs(pairs, high, wide, len(candidates))
    memory = [torch.empty(high * wide, device=queries.device) for _ in range(2)]
    with full_precision():
        for top in range(0, len(queries), high):
            rows = slice(top, min(top + high, len(queries)))
            for left in range(0, len(candidates), wide):
                columns = slice(left, min(left + wide, len(candidates)))
                shape = rows.stop - top, columns.stop - left
                block, flags = (part[: shape[0] * shape[1]].view(shape) for part in memory)
                torch.mm(a.single[rows], b.single[columns].T, out=block)
                block[own.within(top, left)] = -torch.inf
                ways[0].count(block, flags, rows, columns)
                for way in ways[1:]:
                    way.count(block.T, flags.T, columns, rows)
    return [way.ranks() for way in ways]


def _block_shape(rows: int, columns: int, device: torch.device) -> tuple[int, int]:
    """Rows and columns of a block that stays in a processor's cache."""
    factor = 1 if device.type == "cpu" else ACCELERATOR
    scores = min(BLOCK**2, SCORES) * factor**2
    wide = min(columns, BLOCK * factor, scores)
    return min(rows, max(1, scores // wide), COUNTED), wide


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
