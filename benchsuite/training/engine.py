"""The DeepSpeed engine of a run: made from the setup, on CPU and GPU alike."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from benchsuite.methods.base import Method, ParameterGroup, trained_heads, with_heads
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.setup import Optimizer, Setup
from benchsuite.torchvision_ops import make_importable
from benchsuite.training.deepspeed_deviations import start
from benchsuite.training.distributed import patience, world_size

BUCKET = 50_000_000
"""Numbers in a message between processes. ZeRO holds a buffer for each, 0.2 GB here; DeepSpeed's default takes 2 GB."""


def device() -> torch.device:
    """This process's device."""
    if torch.cuda.is_available():
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return torch.device("cpu")


def join_processes() -> None:
    """Join the process group the environment describes (torchrun, deepspeed), or one of size 1; be repeatable."""
    os.environ.setdefault("LOCAL_RANK", "0")
    if dist.is_initialized():
        return
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    if torch.cuda.is_available():
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or products may differ; read as CUDA starts
        torch.cuda.set_device(device())
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        dist.init_process_group(backend, timeout=patience())
    else:
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)  # type: ignore[attr-defined]


@contextmanager
def one_order(compiled: bool) -> Iterator[None]:
    """Compiled towers add up gradients of words on a GPU in any order; inside in one, so that bits are the same again.

    Uncompiled ones need nothing. An operation for which torch has no such order is done all the same; torch warns.
    """
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    fills: Any = torch.utils.deterministic
    filled = fills.fill_uninitialized_memory
    try:
        if compiled:
            torch.use_deterministic_algorithms(True, warn_only=True)
            fills.fill_uninitialized_memory = False  # takes time, and nothing here reads it
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        fills.fill_uninitialized_memory = filled


def start_engine(trainee: nn.Module, groups: list[dict[str, Any]], setup: Setup) -> Any:
    """A DeepSpeed engine around `trainee` with the setup's optimizer."""
    join_processes()
    trainee.to(device())
    training = setup.training
    config = {
        "train_micro_batch_size_per_gpu": training.batch // world_size(),
        "gradient_accumulation_steps": training.accumulation,
        "gradient_clipping": training.clip_gradient,
        "zero_optimization": {
            "stage": training.zero_stage,
            "overlap_comm": training.overlap,
            "reduce_bucket_size": BUCKET,
            "allgather_bucket_size": BUCKET,
        },
        "zero_allow_untested_optimizer": True,
        # of no module, or ZeRO would add up their gradients over processes in bf16, and not in fp32 as without ZeRO
        "torch_autocast": {
            "enabled": training.precision == "bf16",
            "dtype": "bfloat16",
            "lower_precision_safe_modules": [],
        },
        "steps_per_print": 10**9,
        "wall_clock_breakdown": False,
    }
    return start(trainee, make_optimizer(groups, setup.optimizer), config)


def make_optimizer(groups: list[dict[str, Any]], settings: Optimizer) -> torch.optim.Optimizer:
    """The optimizer by its name."""
    make: Any = torch.optim.AdamW if settings.name == "adamw" else timm_optimizer(settings.name)
    momentum = {"momentum": settings.momentum} if settings.name in ("sgd", "sgdp", "lars") else {}
    adaptive = {} if settings.name in ("sgd", "lars") else {"eps": settings.eps}
    betas = {} if momentum else {"betas": settings.betas}
    fused = {"fused": True} if settings.name == "adamw" else {}  # one kernel: a third of the time for small towers
    optimizer: torch.optim.Optimizer = make(groups, lr=settings.lr, **momentum, **adaptive, **betas, **fused)
    return optimizer


def timm_optimizer(name: str) -> Any:
    """timm's class of that name; its AdamW is torch's. timm takes a second or more to import, with torchvision."""
    make_importable()
    from timm.optim import NvNovoGrad, get_optimizer_class

    known = name != "nvnovograd"  # in timm, but not among its names
    return get_optimizer_class(TIMM_NAMES.get(name, name)) if known else NvNovoGrad


TIMM_NAMES = {"sgd": "momentum"}
"""timm's "sgd" is Nesterov's; the papers' is plain."""


def parameter_groups(encoder: DualEncoder, method: Method, setup: Setup) -> list[dict[str, Any]]:
    """Optimizer groups: weights decay, vectors as the setup says, the method's parameters as the method says.

    Biases and norms of its heads are treated as the encoder's vectors, unless the method states a decay.
    """
    decay = setup.optimizer.weight_decay
    vector_decay = decay if setup.optimizer.decay_vectors else 0.0
    factors = {f"{side}_tower": tower.lr_factor for side in ("image", "text") if (tower := getattr(setup, side))}
    by_factor: dict[float, list[nn.Parameter]] = {}
    for name, part in encoder.named_children():
        by_factor.setdefault(factors.get(name, 1.0), []).extend(p for p in part.parameters() if p.requires_grad)
    groups = []
    for factor, trained in by_factor.items():
        groups.append(_group([p for p in trained if p.dim() > 1], decay, factor))
        groups.append(_group([p for p in trained if p.dim() <= 1], vector_decay, factor))
    in_heads = {id(p) for head in trained_heads(method) for p in head.parameters() if p.dim() == 1}
    for own in with_heads(method):
        groups += _method_groups(own, decay, vector_decay, in_heads)
    return [group for group in groups if group["params"]]


def _method_groups(own: ParameterGroup, decay: float, vector_decay: float, in_heads: set[int]) -> list[dict[str, Any]]:
    """One group if the method states a decay; otherwise scalars, which do not decay, and heads' vectors are apart."""
    if own.weight_decay is not None:
        return [_group(list(own.parameters), own.weight_decay, own.lr_factor)]
    numbers = [parameter for parameter in own.parameters if parameter.dim() == 0]
    vectors = [parameter for parameter in own.parameters if id(parameter) in in_heads]
    others = [parameter for parameter in own.parameters if parameter.dim() > 0 and id(parameter) not in in_heads]
    groups = [(others, decay), (numbers, 0.0), (vectors, vector_decay)]
    return [_group(parameters, rate, own.lr_factor) for parameters, rate in groups]


def _group(parameters: list[nn.Parameter], decay: float, factor: float = 1.0) -> dict[str, Any]:
    return {"params": parameters, "weight_decay": decay, "lr_factor": factor}


def set_learning_rate(optimizer: Any, rate: float) -> None:
    """Set every group's rate; a group's own factor stays on top."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("lr_factor", 1.0)


def gradient_norm(engine: Any, stepped: bool) -> float:
    """The norm of all gradients together; NaN if it is not at hand at this moment.

    Without ZeRO they can be read between backward and step; ZeRO gives its norm after the step; before,
    it still has that of the previous step.
    """
    if engine.zero_optimization():
        known = engine.get_global_grad_norm() if stepped else None
        return math.nan if known is None else float(known)
    gradients = [p.grad for p in engine.module.parameters() if p.grad is not None]
    return math.nan if stepped else float(torch.nn.utils.get_total_norm(gradients))


def finish_step(engine: Any, method: Method) -> None:
    """Let the method clamp its parameters, also in the fp32 copies that ZeRO keeps."""
    method.after_step()
    if engine.zero_optimization():
        from deepspeed.utils import safe_set_full_fp32_param

        for parameter in filter(lambda p: p.requires_grad, method.parameters()):
            safe_set_full_fp32_param(parameter, parameter.detach().float())
