"""The score of two embeddings in double precision, equal on every machine, and how far a matrix product may be from it.

The definition: multiply the coordinates in double precision, then add the second half of the products to the first
until one number is left. The order of the additions is fixed. So the score does not depend on the BLAS, the number of
threads or the device, and equal vectors have equal scores. A BLAS may add in any order.
"""

from functools import cached_property

import torch
from torch import Tensor

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
