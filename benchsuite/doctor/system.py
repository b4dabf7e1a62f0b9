"""What the system gives to trainings: itself, shared memory, the GPUs' driver."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchsuite.doctor.libraries import SECONDS, Fact
from benchsuite.errors import UsageError
from benchsuite.execution.space import gib
from benchsuite.running import require_trainable_here

SHARED = Path("/dev/shm")
LITTLE_SHARED = 128 * 2**20
"""Containers have 64 MiB unless told otherwise; a batch of pictures has a few."""


def operating_system() -> Fact:
    """Whether anything can be trained on it."""
    try:
        require_trainable_here()
    except UsageError as error:
        return Fact("problem", "system", sys.platform, str(error))
    if sys.platform != "linux":
        return Fact("note", "system", sys.platform, "Tested at smoke only; batches are read without workers.")
    return Fact("ok", "system", sys.platform)


def shared_memory() -> Fact:
    """Through which batches pass from the workers that read them."""
    remedy = "Of a container: --shm-size 1g. Or read without workers: --workers 0."
    if sys.platform != "linux":
        return Fact("ok", "shared memory", "not needed here: no workers read batches")
    if not os.access(SHARED, os.W_OK):
        found = "is missing" if not SHARED.exists() else "cannot be written to"
        return Fact("note", "shared memory", f"{SHARED} {found}, so workers cannot hand over batches", remedy)
    free = shutil.disk_usage(SHARED).free
    if free < LITTLE_SHARED:
        return Fact("note", "shared memory", f"{free / 2**20:.0f} MiB free at {SHARED}", remedy)
    return Fact("ok", "shared memory", f"{gib(free)} free at {SHARED}")


def driver(torch: Mapping[str, Any]) -> Iterator[Fact]:
    """Why torch sees no GPU where there is a driver, from what torch told."""
    if "error" in torch or torch["devices"] or not shutil.which("nvidia-smi"):
        return
    found = _driver_version()
    if not found:
        what = (
            "nvidia-smi is here, but does not answer: the driver is not loaded, or no GPU was given to this container"
        )
        yield Fact("note", "driver", what, "Run nvidia-smi; for a container give --gpus all.")
    elif torch["cuda"] is None:
        what = f"{found}, but torch {torch['version']} is a build without CUDA"
        yield Fact("note", "driver", what, "Install torch from PyPI, or from https://pytorch.org/get-started.")
    else:
        what = f"{found}, but torch {torch['version']} for CUDA {torch['cuda']} sees no GPU: the driver may be too old"
        yield Fact("note", "driver", what, "Update the driver, or install torch for an older CUDA. See nvidia-smi.")


def _driver_version() -> str:
    """What the driver says of itself; "" if it does not answer."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""
