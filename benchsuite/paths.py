"""Folders: the shipped baselines, and the cache."""

import os
from pathlib import Path

import platformdirs

from benchsuite.errors import UsageError


def baselines() -> Path:
    """The folder of published tables and recipes: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    for folder in (package / "baselines", package.parent / "baselines"):
        if (folder / "papers").is_dir():
            return folder
    raise UsageError(f"baselines/ is missing beside {package}. Install benchsuite again.")


def cache() -> Path:
    """The cache folder: $BENCHSUITE_CACHE, or the user's cache. It can be deleted; nothing but time is lost."""
    chosen = os.environ.get("BENCHSUITE_CACHE")
    folder = Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("benchsuite"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cache folder {folder}: {reason}. Set BENCHSUITE_CACHE to a writable one.") from error
    return folder
