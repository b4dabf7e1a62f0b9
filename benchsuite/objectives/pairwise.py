"""Matrices with an entry for each pair of rows, of which no more than a block of rows need be in memory.

    s = similarities(batch.image, batch.text)  # batch.image @ batch.text.T, but not computed yet
    loss = info_nce(s, s.map(temperature))

reads as if `s` were the matrix. `by_rows` computes numbers for each row.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import torch
from torch import Tensor

from benchsuite.objectives.blocks import Block, together, walk, whole

Operand: TypeAlias = "Pairwise | Tensor | float"


class Pairwise(ABC):
    """A matrix, [N, M], known by how its rows are computed. Row i's positive stands in column i, unless it says so."""

    positive: int | None = None
    """The one column in which all positives stand."""

    def __init__(self, rows: int, columns: int, dtype: torch.dtype, device: torch.device) -> None:
        self.shape = (rows, columns)
        self.dtype, self.device = dtype, device
        self._whole: Tensor | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def at(self, block: Block) -> Tensor:
        """The entries of a block of rows, [b, M], computed once for each block, and once for all uses of a whole."""
        if not block.everything:
            if self not in block.known:
                block.known[self] = self.entries(block)
            return block.known[self]
        if self._whole is not None:
            return self._whole
        entries = self.entries(block)
        if torch.is_grad_enabled():
            self._whole = entries
        return entries

    @abstractmethod
    def entries(self, block: Block) -> Tensor:
        """Compute the entries of a block of rows, [b, M]."""

    @abstractmethod
    def matches(self) -> Tensor:
        """Compute the positives' entries alone, [N]."""

    def turned(self) -> "Pairwise":
        """The transpose as a matrix of its own."""
        raise TypeError("this matrix has no transpose.")

    @property
    def T(self) -> "Pairwise":  # noqa: N802
        return _Transpose(self)

    def map(self, function: Callable[[Tensor], Tensor]) -> "Pairwise":
        """`function` of every entry; it must treat each by itself."""
        return combined(function, self)

    def detach(self) -> "Pairwise":
        """The same entries without gradient."""
        return combined(torch.Tensor.detach, self)

    def __truediv__(self, other: Operand) -> "Pairwise":
        return combined(torch.div, self, other)

    def __mul__(self, other: Operand) -> "Pairwise":
        return combined(torch.mul, self, other)

    def __add__(self, other: Operand) -> "Pairwise":
        return combined(torch.add, self, other)

    __rmul__, __radd__ = __mul__, __add__

    def dense(self) -> Tensor:
        """All entries at once, [N, M], whatever their number."""
        return self.at(Block(slice(0, len(self)), everything=True))

    def positives(self) -> Tensor:
        """The entry of each row's positive, [N]."""
        block = whole(*self.shape)
        return self.positives_of(self.at(block), block) if block else self.matches()

    def positives_of(self, entries: Tensor, block: Block) -> Tensor:
        """The positives' among the entries of a block, or among values of the same shape, [b]."""
        return entries.diagonal(block.rows.start) if self.positive is None else entries[:, self.positive]

    @torch.no_grad()
    def mean(self) -> Tensor:
        """The mean of all entries, without gradient: for gauges."""
        block = whole(*self.shape)
        return self.at(block).mean() if block else by_rows(lambda block: self.at(block).mean(1), self).mean()


class _Products(Pairwise):
    def __init__(self, x: Tensor, y: Tensor) -> None:
        super().__init__(len(x), len(y), x.dtype, x.device)
        self.x, self.y = x, y

    def entries(self, block: Block) -> Tensor:
        return block.of(self.x) @ self.y.T

    def matches(self) -> Tensor:
        return (self.x * self.y).sum(1)

    def turned(self) -> Pairwise:
        return _Products(self.y, self.x)


class _Given(Pairwise):
    """A matrix that somebody computed."""

    def __init__(self, matrix: Tensor) -> None:
        rows, columns = matrix.shape
        super().__init__(rows, columns, matrix.dtype, matrix.device)
        self.matrix = matrix

    def entries(self, block: Block) -> Tensor:
        return block.of(self.matrix)

    def matches(self) -> Tensor:
        return self.matrix.diagonal()

    def turned(self) -> Pairwise:
        return _Given(self.matrix.T)


class _Combined(Pairwise):
    """A function of matrices, entry by entry, and of rows, [1, M], columns, [N, 1], and numbers."""

    def __init__(self, function: Callable[..., Tensor], parts: tuple[Operand, ...]) -> None:
        first = next(part for part in parts if isinstance(part, Pairwise))
        super().__init__(*first.shape, first.dtype, first.device)
        self.positive = first.positive
        self.function = function
        self.parts = tuple(map(self._accepted, parts))

    def _accepted(self, part: Operand) -> Operand:
        if not isinstance(part, Tensor) or part.dim() == 0:
            return part
        if part.dim() == 1:
            raise ValueError(
                "a vector was given for a matrix; give a scalar, v[:, None] for rows, v[None] for columns, or [B, B]."
            )
        return _Given(part) if tuple(part.shape) == self.shape else part

    def entries(self, block: Block) -> Tensor:
        def of(part: Operand) -> Any:
            if isinstance(part, Pairwise):
                return part.at(block)
            return block.of(part) if isinstance(part, Tensor) and part.dim() and len(part) > 1 else part

        return self.function(*map(of, self.parts))

    def matches(self) -> Tensor:
        def of(part: Operand) -> Any:
            if isinstance(part, Pairwise):
                return part.matches()
            if not isinstance(part, Tensor) or not part.dim():
                return part
            return part[:, 0] if part.shape[1] == 1 else part[0] if self.positive is None else part[0, self.positive]

        return self.function(*map(of, self.parts))

    def turned(self) -> Pairwise:
        def of(part: Operand) -> Operand:
            return part.T if isinstance(part, Pairwise) or (isinstance(part, Tensor) and part.dim()) else part

        return _Combined(self.function, tuple(map(of, self.parts)))


class _Transpose(Pairwise):
    """Of a matrix that is there as a whole, its transpose; else the transpose's own rows."""

    def __init__(self, origin: Pairwise) -> None:
        super().__init__(origin.shape[1], origin.shape[0], origin.dtype, origin.device)
        self.origin = origin

    @cached_property
    def rows_of_its_own(self) -> Pairwise:
        return self.origin.turned()

    def entries(self, block: Block) -> Tensor:
        return self.origin.at(block).T if block.everything else self.rows_of_its_own.at(block)

    def matches(self) -> Tensor:
        return self.origin.matches()

    def turned(self) -> Pairwise:
        return self.origin


def similarities(x: Tensor, y: Tensor) -> Pairwise:
    """x @ y.T: inner products of the rows of x, [N, D], with those of y, [M, D]."""
    return _Products(x, y)


def pairwise(matrix: Pairwise | Tensor) -> Pairwise:
    """A matrix as one whose rows are computed; of a tensor, rows are taken."""
    return matrix if isinstance(matrix, Pairwise) else _Given(matrix)


def combined(function: Callable[..., Tensor], *parts: Operand) -> Pairwise:
    """`function` of matrices entry by entry; tensors [1, M] and [N, 1], and numbers, belong to rows and columns."""
    return _Combined(function, parts)


def by_rows(each: Callable[[Block], Tensor], matrix: Pairwise) -> Tensor:
    """What `each` gives for blocks of rows of the matrix, one number or more for each row: [N, ...]."""
    (values,) = many_by_rows(lambda block: (each(block),), matrix)
    return values


def many_by_rows(each: Callable[[Block], tuple[Tensor, ...]], matrix: Pairwise) -> tuple[Tensor, ...]:
    """Several tensors for each block at once."""
    computed = walk(each, matrix.shape, matrix.device)
    return tuple(together(parts, len(matrix)) for parts in zip(*computed, strict=True))


def total(each: Callable[[Block], Tensor], matrix: Pairwise) -> Tensor:
    """The sum of what `each` gives for the entries of a block, [b, M], over all entries."""
    block = whole(*matrix.shape)
    return each(block).sum() if block else by_rows(lambda block: each(block).sum(1), matrix).sum()


def log_sums(logits: Pairwise) -> tuple[Tensor, Tensor, Tensor]:
    """log sum exp of each row and of each column, and each row's positive, from one walk over the rows, [N] each."""
    rows = len(logits)

    def each(block: Block) -> tuple[Tensor, ...]:
        entries = logits.at(block)
        own = logits.positives_of(entries, block)
        return torch.logsumexp(entries, 1), own, torch.logsumexp(entries, 0)

    of_rows, positives, of_columns = zip(*walk(each, logits.shape, logits.device), strict=True)
    share = torch.logsumexp(torch.stack(of_columns), 0, keepdim=True)  # [1, M], of this process's rows
    parts = together([share], rows)
    return together(of_rows, rows), torch.logsumexp(parts, 0), together(positives, rows)
