"""Encode the shares of a batch that this process has: one, as most do, or several one after the other.

A setup for W processes has W equal shares of a batch. Each is encoded as the process would that had no other one: with
dropout of its own and batch norms over it alone. Running statistics follow a process's first share, so those of the
first process are those of share 0, whatever the number of processes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from benchsuite.running import running
from benchsuite.streams import derived_seed
from benchsuite.training.distributed import shares_here
from benchsuite.training.feed import Inputs

Encode = Callable[[Inputs], dict[str, Tensor]]
KEPT = 2
"""Shares whose activations a process keeps on a CPU."""


def encoded_in_shares(
    encode: Encode, modules: Iterable[nn.Module], inputs: Inputs, count: int, seed: int, step: int
) -> dict[str, Tensor]:
    """This process's rows, by `encode`, whose `modules` have running statistics. `count`: the shares of a batch."""
    mine = shares_here(count)
    if len(mine) == 1:
        seed_torch(derived_seed(seed, "dropout", step, mine[0]))
        return in_float(encode(inputs))
    drop = drops_activations(len(mine))
    parts = [
        _share(encode, modules, rows, derived_seed(seed, "dropout", step, number), number == mine[0], drop)
        for number, rows in zip(mine, inputs.shares(len(mine)), strict=True)
    ]
    return {name: torch.cat([rows[name] for rows in parts]) for name in parts[0]}


def _share(
    encode: Encode, modules: Iterable[nn.Module], inputs: Inputs, seed: int, first: bool, drop: bool
) -> dict[str, Tensor]:
    """One share of several. Where activations are dropped, the backward pass calls `attempt` a second time."""

    def attempt() -> dict[str, Tensor]:
        nonlocal first
        averaged = [] if first else [*modules]
        first = False
        seed_torch(seed)
        # autocast keeps its bf16 copies of weights: through one copy the shares' gradients would add up in bf16
        torch.clear_autocast_cache()
        with unchanged_buffers(averaged):
            return in_float(encode(inputs))

    if not drop:
        return attempt()
    rows: dict[str, Tensor] = checkpoint(attempt, use_reentrant=False, preserve_rng_state=False)
    return rows


def drops_activations(count: int) -> bool:
    """Whether a process with so many shares keeps the activations of none, and encodes each again for its gradient.

    Values and gradients are the same, a step takes a forward pass longer. A GPU was to hold one share. The processes of
    a CPU would share its memory anyway, so two are kept; of sixteen, the sum is what no machine has.
    """
    return not running().activations and (torch.cuda.is_available() or count > KEPT)


def keeping(encoder: nn.Module) -> AbstractContextManager[None]:
    """Within it, forward passes keep what the user chose, for one share or for several."""
    return inputs_kept(blocks_of(encoder) if running().activations == "blocks" else ())


def blocks_of(module: nn.Module) -> list[nn.Module]:
    """What the innermost lists of modules with parts hold: layers of a transformer, residual blocks of a stage."""
    inside = [block for child in module.children() for block in blocks_of(child)]
    parts = [*module.children()] if isinstance(module, nn.ModuleList | nn.Sequential) else []
    return inside or (parts if all(any(part.children()) for part in parts) else [])


@contextmanager
def inputs_kept(blocks: Iterable[nn.Module]) -> Iterator[None]:
    """Within it, a forward pass keeps the input of each block alone; the backward pass does the block again."""
    kept = [*blocks]
    for block in kept:
        block.forward = partial(_block, block, block.forward)
    try:
        yield
    finally:
        for block in kept:
            del block.forward


def _block(block: nn.Module, forward: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    """Running statistics follow its first pass alone."""
    again: list[nn.Module] = []

    def attempt(*inputs: Any, **named: Any) -> Any:
        with unchanged_buffers(again):
            again[:] = [block]
            return forward(*inputs, **named)

    return checkpoint(attempt, *inputs, use_reentrant=False, **named)


@contextmanager
def unchanged_buffers(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Put buffers back as they were. By `data`: autograd would take another way for a change of what it reads."""
    before = [(buffer, buffer.detach().clone()) for module in modules for buffer in module.buffers()]
    try:
        yield
    finally:
        for buffer, values in before:
            buffer.data.copy_(values)


def in_float(rows: dict[str, Tensor]) -> dict[str, Tensor]:
    """As methods compute with them."""
    return {name: out.float() for name, out in rows.items()}


def seed_torch(seed: int) -> None:
    """`torch.manual_seed` of the generators in use alone; of all kinds of devices it costs a millisecond each step."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(seed)
