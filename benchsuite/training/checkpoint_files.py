"""The files of a checkpoint: DeepSpeed's own, and beside them what each process has for itself.

DeepSpeed's reader unpickles whatever a file says. Here nothing is read but tensors, plain data and three plain classes
of DeepSpeed, so a checkpoint from elsewhere can be wrong but cannot run code.
"""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import IO, Any
from unittest.mock import patch

import torch
from torch import nn

from benchsuite.errors import RunError
from benchsuite.files import reason_of
from benchsuite.records.checkpoints import StoredCheckpoint
from benchsuite.training.distributed import rank, world_size
from benchsuite.training.engine import import_deepspeed
from benchsuite.training.universal import describe, read_universal


class Writer:
    """DeepSpeed's way to its files. An error while writing is kept for later, since other processes wait meanwhile."""

    def __init__(self) -> None:
        self.name = "benchsuite"
        self.files: dict[str, StoredCheckpoint] = {}
        """Those that this process has written."""
        self.problem = ""

    def begin(self) -> None:
        """Forget what was written before."""
        self.files, self.problem = {}, ""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        try:
            Path(path).mkdir(parents=True, exist_ok=exist_ok)
        except OSError as error:
            self.problem = self.problem or reason_of(error)

    def save(self, state_dict: Any, path: str) -> None:
        try:
            with Path(path).open("wb") as file:
                digesting = Digesting(file)
                torch.save(state_dict, digesting)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            self.files[Path(path).name] = StoredCheckpoint(size=digesting.size, sha256=digesting.sha.hexdigest())
        except (OSError, RuntimeError) as error:
            self.problem = self.problem or reason_of(error).splitlines()[0]

    def load(self, path: str, map_location: Any = None) -> Any:
        return torch.load(path, map_location=map_location, weights_only=True)

    def create(self, info: object) -> None:
        """Nothing to prepare."""

    def commit(self, info: object) -> bool:
        """Whether all is there is decided later, over all processes."""
        return True

    def is_data_parallel_writer(self, number: int) -> bool:
        return number == 0

    def is_decoupled(self) -> bool:
        return False

    def set_commit_info(self, info: object) -> None:
        """Of no use here."""

    def get_commit_info(self) -> None:
        """Of no use here."""

    def cleanup(self) -> None:
        """Nothing is open."""

    def preserves_storage_sharing(self) -> bool:
        return True


class Digesting(io.RawIOBase):
    """A file that takes the SHA-256 of what is written to it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.sha, self.size = file, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._file.write(content)
        self.sha.update(content)
        self.size += memoryview(content).nbytes
        return memoryview(content).nbytes


def write_files(engine: Any, writer: Writer, folder: Path) -> None:
    """This process's part of a checkpoint, into a folder; what failed stands in `writer.problem`."""
    engine.checkpoint_engine = writer
    engine._copy_recovery_script = lambda path: None  # scripts of DeepSpeed, into each checkpoint
    describe(engine.module)
    engine.save_checkpoint(str(folder.parent), tag=folder.name, save_latest=False)
    writer.save(own_state(engine.module), str(folder / own_file(rank())))


def read_files(engine: Any, folder: Path, processes: int) -> None:
    """Put a checkpoint that was written by so many processes into the engine."""
    engine.checkpoint_engine = Writer()
    with plain_data_alone(folder):
        if processes == world_size() or not engine.zero_optimization():
            engine.load_checkpoint(str(folder.parent), tag=folder.name)
        else:
            read_universal(engine, folder)
        own = folder / own_file(rank() if processes == world_size() else 0)
        restore_own_state(engine.module, engine.checkpoint_engine.load(str(own), map_location="cpu"))


@contextmanager
def plain_data_alone(folder: Path) -> Iterator[None]:
    """Inside, `torch.load` reads tensors, plain data and three classes of DeepSpeed, however it is called."""
    import_deepspeed()
    from deepspeed.runtime.fp16.loss_scaler import LossScaler
    from deepspeed.runtime.zero.config import ZeroStageEnum
    from deepspeed.utils.tensor_fragment import fragment_address

    load = torch.load

    def safe(*arguments: Any, **options: Any) -> Any:
        return load(*arguments, **{**options, "weights_only": True})

    with (
        torch.serialization.safe_globals([LossScaler, ZeroStageEnum, fragment_address]),
        patch.object(torch, "load", safe),
    ):
        try:
            yield
        except UnpicklingError as error:
            raise RunError(
                f"checkpoint {folder} holds more than tensors and plain data, which benchsuite did not write and does "
                "not read. Delete it, and the training goes on from the one before or starts anew."
            ) from error


def own_file(number: int) -> str:
    """Name of the file of what one process has for itself."""
    return f"process_{number}.pt"


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
