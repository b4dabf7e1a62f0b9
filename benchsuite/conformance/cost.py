"""What a method costs in time and memory relative to InfoNCE. It is shown, not checked: it varies with the machine."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from weakref import WeakSet

import torch
from torch import Tensor

from benchsuite.conformance.report import Cost
from benchsuite.conformance.subject import Subject, differentiable, modes, parts
from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.blocks import Sizes, sized

SAMPLES = 1000
BATCH = 128
WIDTH = 64
CALLS = 9


def measure(subject: Subject) -> Cost | None:
    """Of a method with its defaults; None of one that refuses a batch as small as those here."""
    try:
        return _measure(subject.name)
    except UsageError:
        return None


def _measure(name: str) -> Cost:
    """Time of loss and gradient relative to InfoNCE's, measured alternately; bytes of parameters and state."""
    method = _made(name)
    baseline = create_method("infonce")
    batches = [_batch(each) for each in (method, baseline)]
    seconds: tuple[list[float], list[float]] = ([], [])
    for call in range(CALLS + 1):
        for timed, batch, times in zip((method, baseline), batches, seconds, strict=True):
            start = time.perf_counter()
            timed(batch, Clock(call, CALLS)).total.backward()
            if call:
                times.append(time.perf_counter() - start)
    tensors = (*method.parameters(), *method.buffers())
    state = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    return Cost(round(median(seconds[0]) / median(seconds[1]), 2), state, SAMPLES, _pair_bytes(name))


def _made(name: str) -> Method:
    return create_method(name, num_samples=SAMPLES, width=WIDTH)


def _pair_bytes(name: str) -> float:
    """What the loss of a large batch keeps for each pair of its rows."""

    def kept_of(rows: int) -> int:
        method = _made(name)
        torch.manual_seed(0)
        with sized(Sizes(whole=0)), kept_tensors() as kept:
            loss = method(_batch(method, rows), Clock(CALLS, CALLS))
        held = kept.bytes
        del loss  # whose graph held it
        return held

    return round(bytes_per_pair(kept_of, BATCH), 1)


def _batch(method: Method, size: int = BATCH) -> PairBatch:
    generator = torch.Generator().manual_seed(0)
    ids = {"index": torch.arange(size), "cluster": torch.zeros(size, dtype=torch.long)}
    names = parts(method, modes(method)[0])
    rows = {n: ids[n] if n in ids else torch.randn(size, WIDTH, generator=generator) for n in names}
    return PairBatch(**differentiable(rows))


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
