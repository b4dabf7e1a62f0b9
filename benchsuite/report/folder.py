"""The folder that pages are written to."""

import os
from collections.abc import Collection
from pathlib import Path

from benchsuite.errors import UsageError

GENERATOR = b'<meta name="generator" content="benchsuite'
"""In every page, so that pages of earlier builds are known as such."""
ROOMS = ("tables", "methods", "claims", "compare", "runs")
"""Its folders of pages."""


def require_folder(folder: Path) -> None:
    """Make the folder, or say now that it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"report folder {folder}: {reason}. Name a writable one with --report.") from error


def write(file: Path, content: bytes) -> None:
    """A file, and the folder it lies in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def remove_old(folder: Path, pages: Collection[str]) -> None:
    """Remove pages that an earlier build wrote and this one did not; files of anyone else stay."""
    for room in ROOMS:
        for file in (folder / room).glob("*.html"):
            if f"{room}/{file.stem}" not in pages and GENERATOR in file.read_bytes()[:2000]:
                file.unlink()
