"""Where things are: the shipped baselines, the tested versions, and the cache."""

import os
from pathlib import Path

import platformdirs

from benchsuite.errors import UsageError
from benchsuite.files import writing_to

CACHE = ("cache folder", "set BENCHSUITE_CACHE to a writable one")
"""How messages name the folder, and what to do about it."""


def baselines() -> Path:
    """The folder of published tables and recipes: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    for folder in (package / "baselines", package.parent / "baselines"):
        if (folder / "papers").is_dir():
            return folder
    raise UsageError(f"baselines/ is missing beside {package}. Install benchsuite again.")


def constraints() -> Path:
    """The file of exact versions that this one was tested with: inside an installed package, or beside it."""
    package = Path(__file__).parent
    return next(folder / "constraints.txt" for folder in (package, package.parent) if (folder / "baselines").is_dir())


def cache() -> Path:
    """The cache folder: $BENCHSUITE_CACHE, or the user's cache. It can be deleted; nothing but time is lost."""
    chosen = os.environ.get("BENCHSUITE_CACHE")
    try:
        folder = Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("benchsuite"))
        known = bool(chosen) or folder.is_absolute()
    except RuntimeError:  # containers run under numbers of users that have no home
        known = False
    if not known:
        raise UsageError(
            f"cache folder {chosen or '~/.cache/benchsuite'}: this user has no home folder (HOME is not set). "
            "Set BENCHSUITE_CACHE to a writable one."
        )
    with writing_to(folder, *CACHE):
        folder.mkdir(parents=True, exist_ok=True)
    return folder
