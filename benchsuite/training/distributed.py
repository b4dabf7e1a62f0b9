"""The global batch on every process, and gradients as if there were one process."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from benchsuite.grouping import by_key
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.shares import Shares

T = TypeVar("T")
Item = TypeVar("Item")
_alone = ContextVar("alone", default=False)


def world_size() -> int:
    """Number of training processes."""
    return dist.get_world_size() if dist.is_initialized() and not _alone.get() else 1


def rank() -> int:
    """This process among them."""
    return dist.get_rank() if dist.is_initialized() and not _alone.get() else 0


@contextmanager
def alone() -> Iterator[None]:
    """As if there were no other processes: for what only some of them do, such as a dry pass."""
    before = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(before)


def share(n: int) -> slice:
    """This process's rows of a global batch of n."""
    part = n // world_size()
    return slice(rank() * part, (rank() + 1) * part)


def shares_here(count: int) -> range:
    """Which of the `count` equal shares of a batch this process computes, one after the other."""
    each = count // world_size()
    return range(rank() * each, (rank() + 1) * each)


def patience() -> timedelta:
    """How long a process waits for the others: the slowest may read much more slowly than the first."""
    return timedelta(seconds=float(os.environ.get("BENCHSUITE_TIMEOUT", "3600")))


def leave_processes() -> None:
    """Leave the process group, if this process is in one. A process that ends without it may abort.

    A thread of gloo lets go of a tensor a moment after its last message; while the interpreter ends, this ends it.
    """
    if dist.is_initialized():
        dist.destroy_process_group()


@contextmanager
def leaving_at_the_end() -> Iterator[None]:
    """Leave the process group after the block; after a failure only that of gloo, since NCCL's waits for the others."""
    orderly = False
    try:
        yield
        orderly = True
    finally:
        if orderly or (dist.is_initialized() and dist.get_backend() == "gloo"):
            leave_processes()


def lost_contact(error: Exception) -> str:
    """What to say if the error is that another process did not answer or is gone; "" for any other error."""
    text = str(error)
    if not isinstance(error, dist.DistError) and "gloo" not in text:
        return ""
    if "timed out" in text.lower() or "timeout" in text.lower():
        return f"the other processes did not answer for {patience().total_seconds():.0f} s ({text.splitlines()[0]})"
    return f"contact with another process was lost ({text.splitlines()[0]})"


def same(value: T) -> T:
    """The first process's value, on all."""
    if world_size() == 1:
        return value
    values = [value]
    dist.broadcast_object_list(values, src=0)
    return values[0]


def gathered(value: T) -> list[T]:
    """The values of all processes."""
    values = [value] * world_size()
    if world_size() > 1:
        dist.all_gather_object(values, value)
    return values


def in_turns(compute: Callable[[Item], T], items: Sequence[Item]) -> list[T]:
    """What `compute` makes of each item, on all processes; each of W makes every W-th one."""
    parts = gathered([compute(item) for item in items[rank() :: world_size()]])
    return [parts[number % world_size()][number // world_size()] for number in range(len(items))]


def take_buffers(module: nn.Module) -> None:
    """The first process's buffers for all: a tower's running statistics are those of a process's own rows."""
    if world_size() > 1:
        for buffer in module.buffers():
            dist.broadcast(buffer, src=0)


def largest(value: int, device: torch.device) -> int:
    """The largest value of any process."""
    if world_size() == 1:
        return value
    shared = torch.tensor(value, device=device)
    dist.all_reduce(shared, dist.ReduceOp.MAX)
    return int(shared)


class _Gather(torch.autograd.Function):
    """Rows of all processes in order. Backward sums over processes what each derived for our rows.

    Every process computes the same loss on the gathered batch, so each one's gradient for a row is the whole
    gradient; their sum is W times it, and the engine's mean over W processes makes it whole again.
    """

    @staticmethod
    def forward(ctx: object, rows: Tensor) -> Tensor:
        whole = rows.new_empty(world_size() * len(rows), *rows.shape[1:])
        dist.all_gather([*whole.chunk(world_size())], rows.contiguous())
        return whole

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        whole = gradients[0].contiguous().clone()
        dist.all_reduce(whole)
        return whole[share(len(whole))]


def gather_batch(parts: dict[str, Tensor]) -> PairBatch:
    """The global batch from this process's parts of it: side by side, in one message for each kind of numbers."""
    if world_size() == 1:
        return PairBatch(**parts)
    whole = {}
    for names in by_key(((rows.dtype, rows.requires_grad), name) for name, rows in parts.items()).values():
        flat = [parts[name].reshape(len(parts[name]), -1) for name in names]
        together: Tensor = _Gather.apply(torch.cat(flat, 1))  # type: ignore[no-untyped-call]
        for name, rows in zip(names, torch.split(together, [part.shape[1] for part in flat], 1), strict=True):
            whole[name] = rows.reshape(-1, *parts[name].shape[1:]).contiguous()
    return PairBatch(**whole)


class _Together(_Gather):
    """Values of all processes' rows in order. Backward: what was derived for our own, times the number of processes.

    Every process derives the same for these values, but only we go on from ours. So a process's gradient is W times
    that of its own rows: the sum over processes in `_Gather`, and the engine's mean, make the whole one.
    """

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        return gradients[0][share(len(gradients[0]))] * world_size()


class ProcessShares(Shares):
    """Each process computes an objective for its own rows of the global batch: equal shares in their order."""

    def own(self, rows: int) -> slice:
        return slice(0, rows) if rows % world_size() else share(rows)

    def together(self, own: Tensor) -> Tensor:
        values: Tensor = _Together.apply(own)  # type: ignore[no-untyped-call]
        return values
