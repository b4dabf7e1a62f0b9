"""Ranks of the right answers. Ties are decided here alone, always against the model.

A score is equal on every machine: its definition is to multiply the coordinates in double precision, then to add the
second half of the products to the first until one number is left. The order of the additions is fixed, so the score
does not depend on the BLAS, the number of threads or the device, and equal vectors have equal scores. A matrix product,
whose BLAS may add in any order, decides nearly all comparisons; the pairs within its largest possible error are scored
one by one.
"""

from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BLOCK = 1024
"""Largest number of queries in a block."""
SCORES = 8_000_000
"""Largest number of similarities in a block: 64 MB in double precision, with a few copies."""
ACCELERATOR = 8
"""On a GPU, blocks have this many times more rows and columns."""


def block_rows(columns: int) -> int:
    """Number of queries in a block, given the number of candidates."""
    return max(1, min(BLOCK, SCORES // max(columns, 1)))


def ranks_of_columns(queries: Tensor, candidates: Tensor, target: Tensor) -> NDArray[np.int32]:
    """For each query, the rank of candidate `target[i]` by similarity; 1 is best.

    Every other candidate that does not score lower ranks before it. So a collapsed model, or one that gives NaN, scores
    at chance or below, not at 100 %.
    """
    return _searched(candidates, queries, target, both=False)[1].ranks()


def both_ways(queries: Tensor, candidates: Tensor, group: Tensor) -> "tuple[Way, Way]":
    """For each query i, the best rank among its own candidates (`group == i`); for each candidate, its query's rank.

    Ties with others count against it. Its own other candidates never rank before a query's best one. A candidate of no
    query is a competitor alone. Both searches know the nearest wrong candidates, too.
    """
    return _searched(queries, candidates, group, both=True)


class Way:
    """The search of one side's queries among the other side's candidates: how many do not score below the right one."""

    def __init__(self, queries: "ExactSide", candidates: "ExactSide", pairs: Tensor, scores: Tensor) -> None:
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
        self.wrong = torch.full((count,), -torch.inf, dtype=torch.float64, device=device)
        """The largest product with another's candidate, and below one that has it: what the rank counts are scores."""
        self.nearest = torch.zeros(count, dtype=torch.long, device=device)

    def count(self, scores: Tensor, own: tuple[Tensor, Tensor], rows: slice, columns: slice) -> None:
        """Count a block of products, but for those of own candidates, which are at `own` and are -inf."""
        width = self.queries.values.shape[1]
        error = radius(self.queries.lengths[rows], self.candidates.lengths[columns].max(), width)
        low, high = (self.right[rows] + sign * error for sign in (-1, 1))
        above, decided = scores > high[:, None], scores < low[:, None]
        decided |= above
        decided[own] = True
        self.counts[rows] += above.sum(1)
        query, candidate = decided.logical_not_().nonzero(as_tuple=True)
        if len(query):
            self._settle(query + rows.start, candidate + columns.start)

    def approach(self, scores: Tensor, rows: slice, columns: slice) -> None:
        """Keep the nearest wrong candidate of each query: own ones are -inf in this block, too."""
        product, place = scores.max(1)
        nearer = product > self.wrong[rows]
        self.wrong[rows] = product.where(nearer, self.wrong[rows])
        self.nearest[rows] = (place + columns.start).where(nearer, self.nearest[rows])

    def _settle(self, query: Tensor, candidate: Tensor) -> None:
        """Count pairs that the product left open: those that are known to tie or to be no numbers count."""
        known = self.queries.nan[query] | self.candidates.nan[candidate] | self.right[query].isnan()
        # Without an own candidate, all count anyway.
        known |= self.candidates.same[candidate] == self.candidates.same[self.best[query]]
        known |= self.queries.zero[query]
        self.counts += query[known].bincount(minlength=len(self.counts))
        query, candidate = query[~known], candidate[~known]
        exact = pair_scores(self.queries.values, self.candidates.values, query, candidate)
        # what does not score lower counts, as do ties and NaN
        self.counts += query[~(exact < self.right[query])].bincount(minlength=len(self.counts))

    def ranks(self) -> NDArray[np.int32]:
        return self.counts.cpu().numpy().astype(np.int32)


@torch.no_grad()
def _searched(queries: Tensor, candidates: Tensor, group: Tensor, both: bool) -> tuple[Way, Way]:
    """Of the queries, which is not done unless `both` are asked for, and of the candidates.

    Only where both are asked for does a search know what is nearest.
    """
    group = group.to(queries.device).long()
    everything = slice(0, len(queries)), slice(0, len(candidates))
    pairs = torch.stack(_own(group, *everything))
    scores = pair_scores(queries, candidates, pairs[0], pairs[1])
    a, b = ExactSide(queries, SCORES), ExactSide(candidates, SCORES)
    first, second = Way(a, b, pairs, scores), Way(b, a, pairs.flip(0), scores)
    high, wide = _block_shape(len(queries), len(candidates), queries.device)
    for top in range(0, len(queries), high):
        rows = slice(top, min(top + high, len(queries)))
        left_side = a.double(rows)
        for left in range(0, len(candidates), wide):
            columns = slice(left, min(left + wide, len(candidates)))
            block, (row, column) = torch.mm(left_side, b.double(columns).T), _own(group, rows, columns)
            block[row, column] = -torch.inf
            if both:
                first.count(block, (row, column), rows, columns)
                first.approach(block, rows, columns)
                second.approach(block.T, columns, rows)
            second.count(block.T, (column, row), columns, rows)
    return first, second


def _own(group: Tensor, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
    """Where queries meet their own candidates in a block: rows and columns inside of it."""
    row = group[columns] - rows.start
    column = ((row >= 0) & (row < rows.stop - rows.start)).nonzero().flatten()
    return row[column], column


def _block_shape(rows: int, columns: int, device: torch.device) -> tuple[int, int]:
    """Rows and columns of a block that stays in a processor's cache."""
    factor = 1 if device.type == "cpu" else ACCELERATOR
    scores = min(BLOCK**2, SCORES) * factor**2
    wide = max(1, min(columns, BLOCK * factor, scores))
    return max(1, min(rows, scores // wide)), wide


PAIR_VALUES = 1 << 17
"""Most coordinates of pairs that are scored at a time: 1 MB, which stays in a core's cache."""
SLACK = 16
"""Roundings to allow for beside those of a product: of lengths and thresholds."""
ROUNDING, TINY = 2.0**-53, 2.0**-1022
"""The unit roundoff, and the smallest normal number. Some processors round what is smaller to 0."""
LARGE = 1e300
"""Sums of products of a larger size might overflow."""


def row_scores(a: Tensor, b: Tensor) -> Tensor:
    """The score of each row of `a` with the same row of `b`, both [P, D]."""
    if not a.shape[1]:
        return torch.zeros(len(a), dtype=torch.float64, device=a.device)
    terms = a.double() * b.double()
    while (width := terms.shape[1]) > 1:
        half = (width + 1) // 2
        terms[:, : width - half] += terms[:, half:]
        terms = terms[:, :half]
    return terms[:, 0]


def pair_scores(a: Tensor, b: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The score of row `rows[p]` of `a` with row `columns[p]` of `b`, for each p."""
    scores = torch.empty(len(rows), dtype=torch.float64, device=a.device)
    step = max(1, PAIR_VALUES // max(1, a.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        scores[part] = row_scores(a.index_select(0, rows[part]), b.index_select(0, columns[part]))
    return scores


class ExactSide:
    """Embeddings [N, D], and what comparing their products takes."""

    def __init__(self, values: Tensor, block: int) -> None:
        """`block`: most coordinates to convert at a time."""
        self.values = values
        step = max(1, block // max(1, values.shape[1]))
        parts = [_lengths(self.double(slice(i, i + step))) for i in range(0, len(values), step)]
        self.lengths = torch.cat([values.new_zeros(0, dtype=torch.float64), *parts])
        """Not finite where a coordinate is not."""

    def double(self, rows: slice) -> Tensor:
        return self.values[rows].double()

    @cached_property
    def nan(self) -> Tensor:
        """Which rows have a coordinate that is not a number."""
        return self.values.isnan().any(1)

    @cached_property
    def zero(self) -> Tensor:
        return self.values.count_nonzero(dim=1) == 0

    @cached_property
    def same(self) -> Tensor:
        """A number for each row. Rows with the same number are equal."""
        first: dict[bytes, int] = {}
        rows = (self.values + 0).cpu().contiguous()  # -0.0 + 0 is 0.0
        content = rows.view(torch.uint8).numpy() if rows.numel() else rows.numpy()
        numbers = [first.setdefault(row.tobytes(), i) for i, row in enumerate(content)]
        return torch.tensor(numbers, dtype=torch.long, device=self.values.device)


def _lengths(rows: Tensor) -> Tensor:
    """Without squares of coordinates that could overflow or vanish."""
    if not rows.shape[1]:
        return rows.new_zeros(len(rows))
    largest = rows.abs().amax(1)
    return largest * (rows / largest.clamp_min(TINY)[:, None]).square().sum(1).sqrt()


def radius(lengths: Tensor, longest: Tensor, width: int) -> Tensor:
    """How far a product of rows of these lengths with rows of at most another may be from their scores.

    |computed − exact| ≤ n·u / (1 − n·u) · Σ|aᵢbᵢ| for a sum of n products in any order, with or without fused
    multiply-add, in blocks or not (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and Σ|aᵢbᵢ| is
    at most the product of the lengths. The error of the definition is counted as more terms. What the smallest numbers
    lose is added. It is infinite where something is not finite, or could overflow.
    """
    roundings = (width + width.bit_length() + SLACK) * ROUNDING
    products = lengths * longest
    error = roundings / (1 - roundings) * products + 4 * max(1, width) * TINY
    return error.where(products < LARGE, torch.inf)
