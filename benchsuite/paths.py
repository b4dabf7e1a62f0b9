"""Where things lie: the shipped baselines, and the cache of what can be made again."""

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
    raise UsageError(
        f"baselines/ is missing beside {package}: the installation is incomplete; install benchsuite again."
    )


def cache() -> Path:
    """The cache folder: $BENCHSUITE_CACHE, or the user's cache. Deleting it costs time, never results."""
    given = os.environ.get("BENCHSUITE_CACHE")
    folder = Path(given).expanduser() if given else Path(platformdirs.user_cache_dir("benchsuite"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cache folder {folder}: {reason}. Set BENCHSUITE_CACHE to a writable one.") from error
    return folder
