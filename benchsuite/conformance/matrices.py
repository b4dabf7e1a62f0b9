"""Memory that a forward pass keeps for the gradient, and how much of it there is for each pair of rows of a batch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakSet

import torch
from torch import Tensor


class Held:
    """A tensor that the graph of a loss holds."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class Kept:
    """What is kept: of graphs that are gone, nothing."""

    def __init__(self, rows: int | None) -> None:
        self.rows = rows
        self._held: WeakSet[Held] = WeakSet()

    @property
    def bytes(self) -> int:
        """Of all memory that is held now, also that of which a view, such as a diagonal, is a part."""
        storages = (held.tensor.untyped_storage() for held in self._held)
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())

    def hold(self, tensor: Tensor) -> Held:
        """Called by the graph for each tensor that it keeps."""
        held = Held(tensor)
        if self.rows is None or sum(size > 0 and size % self.rows == 0 for size in tensor.shape) > 1:
            self._held.add(held)
        return held


@contextmanager
def kept_tensors(rows: int | None = None) -> Iterator[Kept]:
    """What graphs made meanwhile keep; with `rows`, only what has two sizes or more that are multiples of it."""
    kept = Kept(rows)
    with torch.autograd.graph.saved_tensors_hooks(kept.hold, lambda held: held.tensor):
        yield kept


def bytes_per_pair(kept: Callable[[int], int], rows: int) -> float:
    """What `kept` rises by for each pair of rows, whatever shapes its tensors have.

    It is asked for three sizes of a batch, from `rows` on. What is kept once, or for each row, has no second
    difference.
    """
    step = max(1, rows // 4)
    first, second, third = (kept(rows + number * step) for number in range(3))
    return (third - 2 * second + first) / (2 * step**2)
