"""Numbers for each row of a large matrix, from blocks of rows that are computed again in the backward pass.

A matrix of at most `Sizes.whole` entries is one block that is kept for the gradient, as if there were no blocks. Of a
larger one no more than a block is ever in memory. Each process computes the blocks of its own rows (`shares`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from benchsuite.objectives.shares import shares

BLOCK = {True: 2**23, False: 2**24}
"""Entries of a block, on a CPU or elsewhere.

On a CPU it is 32 MiB of float32: glibc returns those at once, but keeps many times the memory of smaller blocks.
"""


@dataclass(frozen=True)
class Sizes:
    """How many entries a matrix may have to be computed as a whole, and how many rows a block of a larger one has."""

    whole: int = 2**22
    rows: int | None = None
    """Of a block of a larger one; by default BLOCK, and 256 or more."""

    def of_block(self, columns: int, device: torch.device) -> int:
        return self.rows or max(256, -(-BLOCK[device.type == "cpu"] // columns))


_SIZES: ContextVar[Sizes] = ContextVar("sizes", default=Sizes())  # noqa: B039


@contextmanager
def sized(sizes: Sizes) -> Iterator[None]:
    """Other sizes, for tests and estimates."""
    token = _SIZES.set(sizes)
    try:
        yield
    finally:
        _SIZES.reset(token)


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows of matrices that have as many rows; entries that were computed for it are remembered."""

    rows: slice
    everything: bool
    """Whether these are all rows."""
    known: dict[Any, Tensor] = field(default_factory=dict)

    def of(self, tensor: Tensor) -> Tensor:
        """These rows of a tensor, [N, ...] -> [b, ...]."""
        return tensor if self.everything else tensor[self.rows]

    def own(self, columns: int, device: torch.device) -> Tensor:
        """Where a row meets the column of its own number, [b, columns], bool."""
        rows = torch.arange(self.rows.start, self.rows.stop, device=device)
        return rows[:, None] == torch.arange(columns, device=device)


def alone(rows: int) -> bool:
    """Whether this process computes all of so many rows."""
    return shares().own(rows) == slice(0, rows)


def whole(rows: int, columns: int) -> Block | None:
    """The one block of a matrix that is computed as a whole by this process; None if it is not."""
    everything = slice(0, rows)
    if rows * columns <= _SIZES.get().whole and alone(rows):
        return Block(everything, everything=True)
    return None


Walked: TypeAlias = tuple[tuple[Tensor, ...], ...]


def walk(each: Callable[[Block], Sequence[Tensor]], shape: tuple[int, int], device: torch.device) -> Walked:
    """What `each` gives for the blocks of this process's rows, of a matrix of that shape.

    `each` may read tensors that need gradients; it must give the same when it is called again.
    """
    if block := whole(*shape):
        return (tuple(each(block)),)
    rows, columns = shape
    own, sizes = shares().own(rows), _SIZES.get()
    if (own.stop - own.start) * columns <= sizes.whole:
        return (tuple(each(Block(own, everything=False))),)

    def again(start: int, stop: int) -> tuple[Tensor, ...]:
        return tuple(map(_alone, each(Block(slice(start, stop), everything=False))))

    step = sizes.of_block(columns, device)
    bounds = [(start, min(start + step, own.stop)) for start in range(own.start, own.stop, step)]
    if not torch.is_grad_enabled():
        return tuple(again(*bound) for bound in bounds)
    return tuple(checkpoint(again, *bound, use_reentrant=False, preserve_rng_state=False) for bound in bounds)


def _alone(values: Tensor) -> Tensor:
    """The values without the block of which they may be a view, such as its diagonal: it would stay in memory."""
    return values.clone() if values.untyped_storage().nbytes() > values.nbytes else values


def together(parts: Sequence[Tensor], rows: int) -> Tensor:
    """Values of this process's blocks, in order, as the values of all rows."""
    own = parts[0] if len(parts) == 1 else torch.cat([*parts])
    return own if alone(rows) else shares().together(own)
