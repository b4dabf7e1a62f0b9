"""What a run ran on: versions, device, processes, commit. No names of machines or users."""

import os
import platform
import subprocess
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


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
