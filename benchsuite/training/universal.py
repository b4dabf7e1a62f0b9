"""Going on with another number of processes: DeepSpeed's universal checkpoint, where ZeRO has parted the optimizer.

What is parted is converted into whole parameters and their moments, which each process then takes its part of.
"""

import os
import shutil
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn

from benchsuite.errors import RunError
from benchsuite.training.distributed import rank

MODEL = "mp_rank_00_model_states.pt"
"""DeepSpeed's name for the weights and buffers, of the first process."""
SHARD = "zero_pp_rank_0_mp_rank_00_optim_states.pt"
"""Its name for the first process's part of the optimizer's state."""
FOLDER = "universal"
"""Where a conversion is while it lasts."""
MOMENTS = {"exp_avg", "exp_avg_sq"}
"""The optimizer states that DeepSpeed converts."""


def describe(module: nn.Module) -> None:
    """Say in the checkpoint that all parameters are whole; otherwise single numbers cannot be converted."""
    from deepspeed.checkpoint import constants

    module.universal_checkpoint_info = {  # type: ignore[assignment]
        constants.UNIVERSAL_CHECKPOINT_VERSION_KEY: constants.UNIVERSAL_CHECKPOINT_VERSION_VALUE,
        constants.TP_REPLICATED_PARAMETER_PATTERNS: [".*"],
    }


def read_universal(engine: Any, folder: Path) -> None:
    """Through DeepSpeed's universal checkpoint, which parts the optimizer's state anew.

    It carries the parameters that are trained; buffers and averaged copies come from the plain files.
    """
    model = engine.checkpoint_engine.load(str(folder / MODEL), map_location="cpu")
    engine.module.load_state_dict(model["module"])
    converted = folder.parent / FOLDER
    problem = [convert(folder, converted) if rank() == 0 else ""]
    dist.broadcast_object_list(problem, src=0)
    if problem[0]:
        raise RunError(
            f"{folder.name} cannot go on with another number of processes: {problem[0]}. Take as many as before."
        )
    with (
        patch.object(engine._config, "load_universal_checkpoint", True),
        patch.object(engine.optimizer, "load_hp_checkpoint_state_from_checkpoint_dir", partial(load, engine.optimizer)),
    ):
        engine.load_checkpoint(str(folder.parent), tag=converted.name)
    dist.barrier()
    if rank() == 0:
        shutil.rmtree(converted)


def convert(folder: Path, converted: Path) -> str:
    """Make a universal checkpoint of a plain one; returns why it cannot be done, or nothing."""
    from deepspeed.checkpoint import ds_to_universal

    shard = torch.load(folder / SHARD, map_location="cpu")["optimizer_state_dict"]["base_optimizer_state"]
    kept = {name for state in shard["state"].values() for name in state}
    if kept - {"step"} != MOMENTS:
        return f"DeepSpeed converts Adam's state, and this optimizer keeps {', '.join(sorted(kept)) or 'none'}"
    shutil.rmtree(converted, ignore_errors=True)
    options = SimpleNamespace(
        input_folder=str(folder),
        output_folder=str(converted),
        num_extract_workers=1,
        num_merge_workers=1,
        keep_temp_folder=False,
        strict=True,
        inject_missing_state=False,
    )
    try:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            ds_to_universal.main(options)
        for file in (converted / "zero").glob("**/*.pt"):
            flatten_number(file)
    except Exception as error:  # the other processes wait for an answer
        return f"DeepSpeed's conversion failed ({type(error).__name__}: {error})"
    (folder.parent / "latest_universal").unlink(missing_ok=True)
    return ""


def flatten_number(file: Path) -> None:
    """DeepSpeed divides what it reads along the first dimension, which a single number has not."""
    content = torch.load(file)
    whole = content.get("param") if isinstance(content, dict) else None
    if isinstance(whole, torch.Tensor) and whole.dim() == 0:
        torch.save({**content, "param": whole.reshape(1)}, file)


def load(optimizer: Any, groups: str, folder: str) -> None:
    """DeepSpeed's own, also where a process has no part of a group: one that holds a single number, say."""
    from deepspeed.utils.tensor_fragment import map_to_flat_opt_states

    zero = Path(folder) / "zero"
    state = torch.load(zero / "optimizer_state.pt")
    optimizer._load_global_state(state)
    for own, group, saved in zip(
        getattr(optimizer, groups), optimizer.optimizer.param_groups, state["param_groups"], strict=True
    ):
        mine = [parameter for parameter in own if parameter._hp_mapping is not None]
        steps = [p.load_hp_checkpoint_state(str(zero / optimizer.param_names[p]), 0, 1) for p in mine]
        flat = group["params"][0]
        if steps and steps[0] is not None:
            optimizer.optimizer.state[flat]["step"] = steps[0]
        keys = {key for parameter in mine for key in parameter._hp_mapping.get_optim_state_keys()}
        map_to_flat_opt_states(flat, own, optimizer.optimizer.state, keys)
        group.update({key: value for key, value in saved.items() if key != "params"})
