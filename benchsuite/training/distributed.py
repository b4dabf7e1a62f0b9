"""The global batch on every process, and gradients as if there were one process."""

import torch
import torch.distributed as dist
from torch import Tensor

from benchsuite.methods.batch import PairBatch


def world_size() -> int:
    """Number of training processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """This process among them."""
    return dist.get_rank() if dist.is_initialized() else 0


def share(n: int) -> slice:
    """This process's rows of a global batch of n."""
    part = n // world_size()
    return slice(rank() * part, (rank() + 1) * part)


class _Gather(torch.autograd.Function):
    """Rows of all processes in order. Backward sums over processes what each derived for our rows.

    Every process computes the same loss on the gathered batch, so each one's gradient for a row is the whole
    gradient; their sum is W times it, and the engine's mean over W processes makes it whole again.
    """

    @staticmethod
    def forward(ctx: object, rows: Tensor) -> Tensor:
        parts = [torch.empty_like(rows) for _ in range(world_size())]
        dist.all_gather(parts, rows.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        whole = gradients[0].contiguous().clone()
        dist.all_reduce(whole)
        return whole[share(len(whole))]


def gather(rows: Tensor) -> Tensor:
    """All processes' rows, differentiable."""
    if world_size() == 1:
        return rows
    gathered: Tensor = _Gather.apply(rows)  # type: ignore[no-untyped-call]
    return gathered


def gather_batch(parts: dict[str, Tensor]) -> PairBatch:
    """The global batch from this process's parts of it."""
    return PairBatch(**{name: gather(rows) for name, rows in parts.items()})
