"""What a run ran on: versions, device, processes, commit. No names of machines or users."""

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchsuite import __version__

PACKAGES = ("torch", "deepspeed", "timm", "transformers", "tokenizers", "datasets", "numpy")


def environment(device: str, threads: int, processes: int) -> dict[str, Any]:
    """For the record."""
    commit, dirty = source_commit()
    return {
        "benchsuite": __version__,
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "device": device,
        "threads": threads,
        "processes": processes,
        "packages": {name: _version(name) for name in PACKAGES},
    }


def source_commit() -> tuple[str | None, bool | None]:
    """The checkout's commit and whether tracked files differ from it; (None, None) for an installed package."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None, None
    try:
        commit = _git(root, "rev-parse", "HEAD").strip()
        return commit, bool(_git(root, "status", "--porcelain", "--untracked-files=no").strip())
    except (OSError, subprocess.CalledProcessError):
        return None, None


def _git(root: Path, *arguments: str) -> str:
    settings = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    return subprocess.run(
        ["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True, env=settings
    ).stdout


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


VECTORS = ("avx512f", "avx2", "avx", "asimd")
"""Flags of instructions on vectors, the widest first: libraries choose kernels by them, which round differently."""


def _processor() -> str:
    """`AMD EPYC (family 25, model 1, avx2)`: processors of one name may round differently."""
    try:
        first = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
    except OSError:
        return platform.processor()
    return named({key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())})


def named(known: Mapping[str, str]) -> str:
    """A processor by what Linux says of it."""
    flags = known.get("flags", known.get("Features", "")).split()
    more = [f"{key} {known[name]}" for key, name in (("family", "cpu family"), ("model", "model")) if name in known]
    more += [flag for flag in VECTORS if flag in flags][:1]
    name = known.get("model name") or platform.processor() or platform.machine()
    return f"{name} ({', '.join(more)})" if more else name
