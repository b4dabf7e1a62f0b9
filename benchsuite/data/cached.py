"""Files and folders that are made once and kept: whole or not at all, by one process at a time."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.files import FOR_EVER, OF_WRITING, locked, put, remove, writing_to
from benchsuite.paths import CACHE

Column = NDArray[Any] | list[list[str]]
Columns = Mapping[str, Column]
"""A split of a data set by column: numbers, or lists of texts."""


def made_once(place: Path, make: Callable[[Path], object], holds: Callable[[Path], bool] = Path.exists) -> Path:
    """`place`, a file or a folder, made if it is not there yet, or no longer holds.

    `make` writes to a draft beside it, which takes its name when all is written. So a process that is killed leaves no
    half of one, and its draft goes when the next one starts. Of two processes the second waits for the first.
    """
    if holds(place):
        return place
    draft = place.with_name(f".partial-{place.name}")
    lock = locked(place.with_name(f"{place.name}.lock"), FOR_EVER)
    with writing_to(place.parent, *CACHE, OF_WRITING), lock:
        if not holds(place):
            remove(place)
            remove(draft)
            try:
                make(draft)
                put(draft, place)
            finally:
                remove(draft)
    return place


def save(columns: Columns, folder: Path) -> None:
    """Write numbers as .npy, texts as .json."""
    folder.mkdir(parents=True)
    for name, column in columns.items():
        if isinstance(column, list):
            (folder / f"{name}.json").write_text(json.dumps(column), "utf-8")
        else:
            np.save(folder / f"{name}.npy", column)


def load(folder: Path) -> dict[str, Any]:
    """What `save` wrote; `images` are mapped from disk."""
    columns: dict[str, Any] = {file.stem: json.loads(file.read_bytes()) for file in folder.glob("*.json")}
    for file in folder.glob("*.npy"):
        columns[file.stem] = np.load(file, mmap_mode="r" if file.stem == "images" else None)
    return columns
