"""What this machine can do. Nothing here imports torch: heavy libraries are tried in a process of their own."""

import http.client
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from benchsuite.doctor.probe import LIBRARIES, MARK
from benchsuite.errors import UsageError
from benchsuite.execution.space import available_memory, free_disk, gib
from benchsuite.paths import cache
from benchsuite.running import require_trainable_here
from benchsuite.workers import processors

Status = Literal["ok", "note", "problem"]
SECONDS = 4
"""For the hub, and for the driver, to answer."""
IMPORT_SECONDS = 180
LITTLE_DISK, LITTLE_MEMORY = 2**30, 2 * 2**30
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
SHARED = Path("/dev/shm")
LITTLE_SHARED = 128 * 2**20
"""Containers have 64 MiB unless told otherwise; a batch of pictures has a few."""
WITHOUT_HUB = "Pretrained towers come from local folders or the cache."


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at."""

    status: Status
    what: str
    found: str
    todo: str = ""
    """What to do, where something is to be done."""

    def __str__(self) -> str:
        return f"{self.status:<8} {self.what}: {self.found}" + (f". {self.todo}" if self.todo else "")


def examined(results: Path) -> Iterator[Fact]:
    """All lines, the quick ones first: libraries are imported meanwhile, in another process."""
    probe = start_probe()
    try:
        yield from system(results)
        yield operating_system()
        yield shared_memory()
        yield slurm()
        yield hub()
        told = probed(probe)
    finally:
        probe.kill()
        probe.wait()
    yield from libraries(told)
    yield from driver(told["torch"])


def start_probe() -> "subprocess.Popen[str]":
    """Begin to import the heavy libraries; `libraries` waits for the outcome."""
    place = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), place]))
    command = [sys.executable, "-m", "benchsuite.doctor.probe"]
    silent = subprocess.DEVNULL
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=silent, stdin=silent, text=True, env={**os.environ, "PYTHONPATH": path}
    )


def probed(process: "subprocess.Popen[str]") -> dict[str, dict[str, Any]]:
    """What each library told; one that took the process with it is told to have done so."""
    try:
        out, _ = process.communicate(timeout=IMPORT_SECONDS)
        died = f"importing it ended the process (exit code {process.returncode})"
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        died = f"importing it took more than {IMPORT_SECONDS} s"
    lines = [json.loads(line.removeprefix(MARK)) for line in out.splitlines() if line.startswith(MARK)]
    told = {line["library"]: line for line in lines}
    for name in LIBRARIES:
        if name not in told:
            told[name] = {"library": name, "error": died}
            died = "not tried, as the one before it failed"
    return told


def system(results: Path) -> Iterator[Fact]:
    """Python, cores, memory, disks."""
    yield Fact("ok", "Python", platform.python_version())
    usable, cores = processors(), os.cpu_count() or 1
    limited = f" of {cores}" if usable != cores else ""
    yield Fact("ok", "cores", f"{usable}{limited} usable; repro runs one training on each unless --jobs says otherwise")
    free, total = available_memory(), psutil.virtual_memory().total
    little: Status = "note" if free < LITTLE_MEMORY else "ok"
    yield Fact(little, "memory", f"{gib(free)} free of {gib(total)}", "Give --jobs 1." * (little == "note"))
    yield _disk("disk for results", lambda: results, "--results")
    yield _disk("disk for the cache", cache, "BENCHSUITE_CACHE")
    yield _disk("temporary files", lambda: Path(tempfile.gettempdir()), "TMPDIR")


def _disk(what: str, place: Callable[[], Path], option: str) -> Fact:
    try:
        folder = place()
    except (UsageError, OSError) as error:  # no folder that is named, and none of the usual ones, can be written to
        return Fact("problem", what, str(error).rstrip("."), f"Name another folder with {option}.")
    there = next(parent for parent in (folder.resolve(), *folder.resolve().parents) if parent.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        return Fact("problem", what, f"{folder} cannot be written to", f"Name another folder with {option}.")
    free = free_disk(folder)
    short: Status = "note" if free < LITTLE_DISK else "ok"
    return Fact(short, what, f"{gib(free)} free at {folder}", f"Make room, or change {option}." * (short == "note"))


def libraries(told: Mapping[str, Mapping[str, Any]]) -> Iterator[Fact]:
    """Whether the heavy ones can be imported, devices, and what starts several processes."""
    for name, facts in told.items():
        if error := facts.get("error"):
            fix = "Nothing can be trained." if name != "timm" else "No image tower can be made."
            again = f"Install it again: pip install --force-reinstall {name}."
            yield Fact("problem", f"import {name}", error, f"{fix} {again}")
        else:
            yield Fact("ok", f"import {name}", str(facts.get("version", "")))
    torch = told["torch"]
    if "error" in torch:
        return
    if devices := torch["devices"]:
        for number, device in enumerate(devices):
            yield Fact("ok", f"device {number}", f"{device['name']}, {gib(device['bytes'])}, CUDA {torch['cuda']}")
    else:
        yield Fact("ok", "devices", "no GPU; trainings run on the processor, in fp32 and bf16")
    backends = " and ".join(torch["backends"]) or "none"
    usable: Status = "ok" if torch["backends"] else "problem"
    yield Fact(usable, "several processes", f"torch's elastic launcher; backends {backends}")


def slurm() -> Fact:
    """Whether its commands are there."""
    there = [name for name in ("sbatch", "srun", "sinfo", "squeue", "scancel") if shutil.which(name)]
    found = f"{', '.join(there)}; `sinfo` shows partitions" if there else "not here; runs are started on this machine"
    return Fact("ok", "SLURM", found)


def hub() -> Fact:
    """Whether models and data can be downloaded."""
    if flags := [flag for flag in OFFLINE if os.environ.get(flag, "").lower() in ("1", "true", "yes", "on")]:
        return Fact("note", "hub", f"offline by {', '.join(flags)}", WITHOUT_HUB)
    place = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        urllib.request.urlopen(urllib.request.Request(place, method="HEAD"), timeout=SECONDS).close()
    except urllib.error.HTTPError:  # an answer all the same
        pass
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Fact("note", "hub", f"{place} is not reached ({getattr(error, 'reason', error)})", WITHOUT_HUB)
    return Fact("ok", "hub", f"{place} answers")


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
