"""Memory and disk: what this machine has left. Imports no torch."""

import math
import shutil
from contextlib import suppress
from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")
FLOAT = 4


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


def gib(size: float) -> str:
    """Bytes in words."""
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 / 10 else f"{size / 2**20:.1f} MiB"
