"""Memory and disk: what this machine has left, and what the checkpoints of a training need. Imports no torch."""

import math
import shutil
from contextlib import suppress
from pathlib import Path

import psutil

from benchsuite.records.checkpoints import KEPT
from benchsuite.setup import Optimizer

CGROUP = Path("/sys/fs/cgroup")
FLOAT = 4
ONE_MOMENT = frozenset({"sgd", "sgdp", "nvnovograd", "lars"})
"""Optimizers that keep one number for each weight; the others keep two."""


def free_memory() -> tuple[int, str]:
    """Bytes that a training may use at most, and where: all of a GPU's, or what the processor's side has left."""
    import torch

    if torch.cuda.is_available():
        return int(torch.cuda.get_device_properties(0).total_memory), "the GPU has"
    return available_memory(), "are free"


def available_memory() -> int:
    """Bytes free on the processor's side. A container's own limit counts too, where it has one."""
    free = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        limit, used = (int((CGROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        stat = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
        free = min(free, limit - used + int(stat["inactive_file"]))
    return free


def free_disk(folder: Path) -> float:
    """Bytes free where the folder is, or will be; no limit on a file system that tells no size."""
    there = next(parent for parent in (folder.resolve(), *folder.resolve().parents) if parent.exists())
    usage = shutil.disk_usage(there)
    return usage.free if usage.total else math.inf


def checkpoints_bytes(parameters: float, optimizer: Optimizer) -> float:
    """Of all checkpoints that a training has at a time: those that are kept, and one that is being written."""
    copies = 1 + (1 if optimizer.name in ONE_MOMENT else 2)
    return (KEPT + 1) * copies * FLOAT * parameters


def gib(size: float) -> str:
    """Bytes in words."""
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 / 10 else f"{size / 2**20:.1f} MiB"
