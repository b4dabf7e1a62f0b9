"""Every deviation from DeepSpeed, each with its reason: what is switched off, replaced, or read of its inside.

tests/training/test_deepspeed_deviations.py fails where a version no longer needs one of them, or no longer allows it.
The range of versions in pyproject.toml ends before the first one that was not tested.
"""

import logging
import os
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

SHARED_MEMORY_OPERATOR = "deepspeed_shm_comm"


@cache
def import_deepspeed() -> Any:
    """DeepSpeed, quiet, and without the shared-memory operator it would compile at its first start on a CPU.

    That operator only serves inference over several processes; compiling it takes most of a minute and ends the
    program where there is no C++ compiler. No option switches it off.
    """
    if not torch.cuda.is_available():
        os.environ.setdefault("DS_ACCELERATOR", "cpu")
    logging.getLogger("DeepSpeed").setLevel(logging.ERROR)
    import deepspeed
    import deepspeed.ops

    deepspeed.utils.logger.setLevel(logging.ERROR)
    deepspeed.ops.__compatible_ops__[SHARED_MEMORY_OPERATOR] = False
    return deepspeed


@cache
def engine_class() -> type:
    """DeepSpeed's engine, with two functions that take a parameter that is a single number, and one that looks."""
    deepspeed = import_deepspeed()

    class Engine(deepspeed.DeepSpeedEngine):  # type: ignore[misc, name-defined]
        def _broadcast_model(self) -> None:
            """Give every process the first one's parameters and buffers.

            DeepSpeed's skips buffers, and it views parameters as bytes, which a single number (a learnable
            temperature) and channels-last memory refuse.
            """
            for tensor in (*self.module.parameters(), *self.module.buffers()):
                dist.broadcast(tensor.data, src=0)

        def clip_fp32_gradients(self) -> None:
            """As DeepSpeed's, which multiplies by a vector of one number: single numbers are shown to it as such."""
            from deepspeed.runtime.utils import clip_grad_norm_

            gradients = [p.grad for p in self.module.parameters() if p.grad is not None]
            vectors = [gradient if gradient.dim() else gradient.view(1) for gradient in gradients]
            holders = [SimpleNamespace(grad=vector, device=vector.device) for vector in vectors]
            clip_grad_norm_(parameters=holders, max_norm=self.gradient_clipping())

        def _take_model_step(self, *arguments: Any) -> None:
            """As DeepSpeed's, and without ZeRO too a step is not taken whose gradients are not finite.

            ZeRO leaves such a step out and counts it; without ZeRO its NaN would be the weights'.
            """
            gradients = [p.grad for p in self.module.parameters() if p.grad is not None]
            if self.zero_optimization() or torch.isfinite(torch.nn.utils.get_total_norm(gradients)):
                super()._take_model_step(*arguments)

    return Engine


def start(model: nn.Module, optimizer: torch.optim.Optimizer, config: dict[str, Any]) -> Any:
    """What `deepspeed.initialize` does for a plain model; it has no argument for the class of the engine.

    A single process without ZeRO does not reduce gradients: DeepSpeed would flatten, send and copy back all of them at
    each step, to sum one of each.
    """
    deepspeed = import_deepspeed()
    deepspeed.init_distributed(dist_init_required=False)
    parsed = deepspeed.DeepSpeedConfig(config)
    engine = engine_class()(
        args=None, model=model, optimizer=optimizer, dist_init_required=False, config=config, config_class=parsed
    )
    if dist.get_world_size() == 1 and not engine.zero_optimization():
        engine.enable_backward_allreduce = False
    return engine


def optimizer_state(engine: Any) -> dict[str, Any]:
    """State of the torch optimizer that the engine runs: with ZeRO this process's part of it, otherwise all of it.

    It stands in for DeepSpeed's checkpoints. Their reader unpickles whatever a file says, they hold a second copy of
    the weights, processes wait for one whose disk is full, and with another number of processes DeepSpeed reads Adam's
    state alone, without single numbers.
    """
    state: dict[str, Any] = engine.basic_optimizer.state_dict()
    return state


def restore(engine: Any, weights: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Put weights, and what `optimizer_state` gave, into the engine. ZeRO updates copies of the weights."""
    engine.module.load_state_dict(weights)
    engine.basic_optimizer.load_state_dict(state)
    if engine.zero_optimization():
        engine.optimizer.refresh_fp32_params()


def divided_anew(engine: Any, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """This process's part of the optimizer's state, from the parts of another number of processes.

    ZeRO 1 and 2 line the parameters of a group up in one vector, padded at its end, and give each process an equal
    piece. A ValueError names a state that is neither such a piece nor the same for all.
    """
    groups = engine.basic_optimizer.param_groups
    sizes = [group["params"][0].numel() for group in groups]
    state = {
        number: {name: _divided(name, [part["state"][number][name] for part in parts], sizes[number]) for name in first}
        for number, first in parts[0]["state"].items()
    }
    return {**parts[0], "state": state}


def _divided(name: str, pieces: list[Any], size: int) -> Any:
    if isinstance(pieces[0], Tensor) and pieces[0].dim():
        whole = torch.cat(pieces)[dist.get_rank() * size :][:size]
        return torch.cat([whole, whole.new_zeros(size - len(whole))])
    if any(piece != pieces[0] for piece in pieces):
        raise ValueError(f"{name} is a number of its own for each process")
    return pieces[0]
