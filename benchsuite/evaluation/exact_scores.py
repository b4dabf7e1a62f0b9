"""The score of two embeddings in double precision, equal on every machine, and how far a matrix product may be from it.

The definition: multiply the coordinates in double precision, then add the second half of the products to the first
until one number is left. The order of the additions is fixed. So the score does not depend on the BLAS, the number of
threads or the device, and equal vectors have equal scores. A BLAS may add in any order.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

PAIR_VALUES = 1 << 17
"""Most coordinates of pairs that are scored at a time: 1 MB, which stays in a core's cache."""
SLACK = 16
"""Roundings to allow for beside those of a product: of inputs, lengths and thresholds."""
ROUNDING = {torch.float32: (2.0**-24, 2.0**-126), torch.float64: (2.0**-53, 2.0**-1022)}
"""Unit roundoff, and the smallest normal number. Some processors round what is smaller to 0."""
UNSCALED = 16
"""A side whose largest coordinate is between 2^-16 and 2^16 is not scaled."""


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


def pair_scores(a: Tensor, b: Tensor, rows: Tensor, columns: Tensor, values: int = PAIR_VALUES) -> Tensor:
    """The score of row `rows[p]` of `a` with row `columns[p]` of `b`, for each p."""
    scores = torch.empty(len(rows), dtype=torch.float64, device=a.device)
    step = max(1, min(values, PAIR_VALUES) // max(1, a.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        scores[part] = row_scores(a.index_select(0, rows[part]), b.index_select(0, columns[part]))
    return scores


class ExactSide:
    """Embeddings [N, D] and what a matrix product needs of them.

    The product reads them scaled by one power of two, so that it neither overflows nor loses small numbers. In it, rows
    that are not finite are NaN everywhere.
    """

    def __init__(self, values: Tensor, block: int) -> None:
        """`block`: most coordinates to convert at a time."""
        self.values = values
        self.exponent = _exponent(values)
        step = max(1, block // max(1, values.shape[1]))
        if values.dtype == torch.float32 and not self.exponent:
            self.single = values.contiguous()
        else:
            self.single = torch.empty(values.shape, dtype=torch.float32, device=values.device)
            for start in range(0, len(values), step):
                self.single[start : start + step] = self._scaled(values[start : start + step])
        lengths = torch.empty(len(values), dtype=torch.float64, device=values.device)
        for start in range(0, len(values), step):
            lengths[start : start + step] = self.single[start : start + step].double().square().sum(1).sqrt()
        self.broken = ~lengths.isfinite()
        if self.broken.any():
            self.single = self.single.masked_fill(self.broken[:, None], torch.nan)
        lost = values.shape[1] * ROUNDING[torch.float32][1]  # what single precision may have rounded to 0
        self.lengths = torch.where(self.broken, 0.0, lengths + lost)
        """Of the scaled rows; 0 for those that are not finite."""

    def double(self, rows: Tensor | slice) -> Tensor:
        """The rows as a double-precision product reads them."""
        return self._scaled(self.values[rows]).masked_fill(self.broken[rows][:, None], torch.nan)

    @cached_property
    def nan(self) -> Tensor:
        """Which rows have a coordinate that is not a number."""
        nan = torch.zeros(len(self.values), dtype=torch.bool, device=self.values.device)
        bad = self.broken.nonzero().flatten()
        nan[bad] = self.values[bad].isnan().any(1)
        return nan

    @cached_property
    def zero(self) -> Tensor:
        """Which rows are zero."""
        return self.values.count_nonzero(dim=1) == 0

    @cached_property
    def same(self) -> Tensor:
        """A number for each row. Rows with the same number are equal."""
        first: dict[bytes, int] = {}
        rows = (self.values + 0).cpu().contiguous()  # -0.0 + 0 is 0.0
        content = rows.view(torch.uint8).numpy() if rows.numel() else rows.numpy()
        numbers = [first.setdefault(row.tobytes(), i) for i, row in enumerate(content)]
        return torch.tensor(numbers, dtype=torch.long, device=self.values.device)

    def _scaled(self, rows: Tensor) -> Tensor:
        return times_power(rows.double(), -self.exponent)


def times_power(values: Tensor, exponent: int) -> Tensor:
    """The values times 2 to the power of the exponent, which may lie beyond the range of a factor."""
    return values * 2.0 ** (exponent // 2) * 2.0 ** (exponent - exponent // 2) if exponent else values


def _exponent(values: Tensor) -> int:
    """The power of two to divide by."""
    largest = _largest(values)
    if not math.isfinite(largest):
        largest = _largest(values[values.isfinite()])
    exponent = math.frexp(largest)[1]
    return exponent if abs(exponent) > UNSCALED else 0


def _largest(values: Tensor) -> float:
    """The largest absolute value."""
    if not values.numel():
        return 0.0
    low, high = values.aminmax()
    return max(-float(low), float(high))


class Bound:
    """How far a product of two scaled sides may be from the scaled score: `relative` × both lengths + `absolute`.

    |computed − exact| ≤ n·u / (1 − n·u) · Σ|aᵢbᵢ| for a sum of n products in any order, with or without fused
    multiply-add, in blocks or not (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and Σ|aᵢbᵢ| is
    at most the product of the lengths. The error of the definition, and of rounding inputs, is counted as more terms.
    `absolute` is for numbers that were too small. It is infinite where the definition itself could overflow.
    """

    def __init__(self, a: ExactSide, b: ExactSide, dtype: torch.dtype) -> None:
        unit, tiny = ROUNDING[dtype]
        width = max(1, a.values.shape[1])
        roundings = (width + width.bit_length() + SLACK) * unit
        self.relative = roundings / (1 - roundings) if roundings < 0.5 else math.inf
        self.exponent = a.exponent + b.exponent
        self.absolute = math.inf
        if abs(self.exponent) + width.bit_length() < 900:
            lost = ROUNDING[torch.float64][1] * 2.0 ** max(0, -self.exponent)  # by the definition, then scaled
            self.absolute = width * 2.0 ** (UNSCALED + 4) * (tiny + lost)

    def around(self, right: Tensor, lengths: Tensor, longest: Tensor) -> tuple[Tensor, Tensor]:
        """Below the first a score is below `right` for certain, above the second above it. In double precision."""
        if math.isinf(self.absolute):
            return torch.full_like(right, -torch.inf), torch.full_like(right, torch.inf)
        radius = self.relative * lengths * longest + self.absolute
        scaled = times_power(right, -self.exponent)
        low, high = scaled - radius, scaled + radius
        return low.masked_fill(low.isnan(), -torch.inf), high.masked_fill(high.isnan(), torch.inf)


def single(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """The interval in single precision, not smaller."""
    down, up = low.float(), high.float()
    return down.nextafter(torch.full_like(down, -torch.inf)), up.nextafter(torch.full_like(up, torch.inf))


@contextmanager
def full_precision() -> Iterator[None]:
    """Products of single precision are computed in it, whatever the process allows (TF32, bfloat16)."""
    places: list[Any] = [torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None)]
    before = [getattr(place, "fp32_precision", None) for place in places]  # torch 2.9 and later
    try:
        allowed = torch.get_float32_matmul_precision()
    except RuntimeError:  # set by place
        allowed = "highest"
    torch.set_float32_matmul_precision("highest")  # of all places
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(allowed)
        for place, value in zip(places, before, strict=True):
            if value is not None and place.fp32_precision != value:
                place.fp32_precision = value
