"""Matrices with an entry for each pair of rows of a batch, which a forward pass keeps for the gradient."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


class Kept:
    """What was kept."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._storages: dict[int, int] = {}

    @property
    def bytes(self) -> int:
        """Of all matrices together; what shares memory counts once."""
        return sum(self._storages.values())

    def add(self, tensor: Tensor) -> Tensor:
        """Count the tensor if two or more of its sizes are multiples of the number of rows."""
        if sum(size > 0 and size % self.rows == 0 for size in tensor.shape) > 1:
            self._storages[tensor.untyped_storage().data_ptr()] = tensor.nbytes
        return tensor


@contextmanager
def kept_matrices(rows: int) -> Iterator[Kept]:
    """Count what is kept meanwhile, for a batch of so many rows."""
    kept = Kept(rows)
    with torch.autograd.graph.saved_tensors_hooks(kept.add, lambda tensor: tensor):
        yield kept
