"""The files of a checkpoint: what all processes share, and for each what it has for itself.

They hold tensors and plain data, and nothing else is read: one from elsewhere can be wrong but cannot run code.
"""

import os
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import nn

from benchsuite.errors import RunError
from benchsuite.files import reason_of, sha256_of
from benchsuite.records.checkpoints import StoredCheckpoint
from benchsuite.training.deepspeed_deviations import divided_anew, optimizer_state, restore
from benchsuite.training.distributed import rank, world_size

SHARED = "shared.pt"
"""Weights and buffers; without ZeRO also the optimizer's state."""


def own_file(number: int) -> str:
    """Name of the file of what one process has for itself."""
    return f"process_{number}.pt"


def write_files(engine: Any, folder: Path) -> tuple[dict[str, StoredCheckpoint], str]:
    """This process's files of a checkpoint, and why one could not be written: the other processes wait meanwhile."""
    optimizer = optimizer_state(engine)
    parted = engine.zero_optimization()
    own = own_state(engine.module) | ({"optimizer": optimizer} if parted else {})
    shared = {"weights": engine.module.state_dict()} | ({} if parted else {"optimizer": optimizer})
    contents = {own_file(rank()): own} | ({SHARED: shared} if rank() == 0 else {})
    try:
        return {name: _written(folder / name, content) for name, content in contents.items()}, ""
    except OSError as error:
        return {}, reason_of(error)
    except RuntimeError as error:  # torch's own, raised while the system's was handled
        return {}, reason_of(error.__context__ or error).splitlines()[0]


def _written(file: Path, content: dict[str, Any]) -> StoredCheckpoint:
    with file.open("wb") as opened:
        torch.save(content, opened)
        opened.flush()
        os.fsync(opened.fileno())
    return StoredCheckpoint(size=file.stat().st_size, sha256=sha256_of(file))


def read_files(engine: Any, folder: Path, processes: int) -> None:
    """Put a checkpoint that was written by so many processes into the engine."""
    shared = _read(folder / SHARED)
    own = _read(folder / own_file(rank() if processes == world_size() else 0))
    if not engine.zero_optimization():
        optimizer = shared["optimizer"]
    elif processes == world_size():
        optimizer = own["optimizer"]
    else:
        try:
            parts = [_read(folder / own_file(number), mmap=True)["optimizer"] for number in range(processes)]
            optimizer = divided_anew(engine, parts)
        except ValueError as error:
            raise RunError(
                f"{folder.name} cannot go on with another number of processes: {error}. Take as many as before."
            ) from error
    restore(engine, shared["weights"], optimizer)
    restore_own_state(engine.module, own)


def _read(file: Path, mmap: bool = False) -> dict[str, Any]:
    try:
        content: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True, mmap=mmap)
    except UnpicklingError as error:
        raise RunError(
            f"checkpoint {file.parent} holds more than tensors and plain data, which benchsuite did not write and does "
            "not read. Delete it, and the training goes on from the one before or starts anew."
        ) from error
    return content


def own_state(module: nn.Module) -> dict[str, Any]:
    """What differs between processes: random states, and buffers of towers, such as a batch norm's averages."""
    method = {f"method.{name}" for name, _ in module.method.named_buffers()}  # type: ignore[union-attr]
    buffers = {name: value for name, value in module.named_buffers() if name not in method}
    gpu = torch.cuda.get_rng_state() if torch.cuda.is_available() else None
    return {"random": torch.get_rng_state(), "gpu_random": gpu, "buffers": buffers}


@torch.no_grad()
def restore_own_state(module: nn.Module, state: dict[str, Any]) -> None:
    """As it was saved."""
    torch.set_rng_state(state["random"])
    if state["gpu_random"] is not None and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["gpu_random"])
    buffers = dict(module.named_buffers())
    for name, value in state["buffers"].items():
        buffers[name].copy_(value)
