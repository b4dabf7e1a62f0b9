"""The folder that pages are written to."""

import glob
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


def write(file: Path, content: bytes) -> Path:
    """A file, and the folder it lies in."""
    try:
        file.write_bytes(content)
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return file


def remove_old(folder: Path, written: Collection[Path]) -> None:
    """Remove pages that an earlier build wrote and this one did not, and their data; files of anyone else stay."""
    for page in (page for room in ROOMS for page in (folder / room).rglob("*.html")):
        if page not in written and GENERATOR in page.read_bytes()[:2000]:
            for file in (
                *page.parent.glob(f"{glob.escape(page.stem)}.*"),
                *page.parent.glob(f"{glob.escape(page.stem)}-*.csv"),
            ):
                if file not in written:
                    file.unlink()
