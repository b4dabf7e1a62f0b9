"""Checkpoints of a training under way: `checkpoints/<run_id>/step-<n>/` in a results folder, while it has no record.

A checkpoint is written beside its place and renamed, so what has the name is complete. Its `checkpoint.json` lists all
its files with their SHA-256: a damaged one is recognised before anything is read from it. This module needs no torch.
"""

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from benchsuite.canonical import digest
from benchsuite.files import sha256_of, sync_folder, write_whole
from benchsuite.parts import Part

FOLDER = "checkpoints"
MARKER = "checkpoint.json"
DRAFT = ".draft-"
NAME = re.compile(r"step-(\d+)")


@dataclass(frozen=True)
class Every:
    """How often a training is saved: at whichever comes first."""

    minutes: float | None = 10.0
    steps: int | None = None


EVERY = Every()
"""Trainings of seconds are never saved."""


@dataclass(frozen=True)
class Saving:
    """Where and how often the trainings of a command are saved; `every` is None for never."""

    results: Path
    every: Every | None = EVERY

    def folder(self, run_id: str) -> Path:
        """Of one run."""
        return folder_of(self.results, run_id)


class StoredCheckpoint(Part):
    """A file of a checkpoint."""

    size: int
    sha256: str


class Marker(Part):
    """What `checkpoint.json` holds."""

    file_format: Literal[1] = 1
    step: int
    """How many steps are done."""
    processes: int
    """How many had a part in it."""
    identity: dict[str, str]
    """Of the run, its first weights and batches, and the code and libraries that train it."""
    files: dict[str, StoredCheckpoint]


def folder_of(results: Path, run_id: str) -> Path:
    """Where the checkpoints of a run are."""
    return results / FOLDER / run_id


def checkpoints_in(folder: Path) -> list[Path]:
    """The checkpoints of a run, the latest first."""
    steps = {path: int(match[1]) for path in folder.glob("step-*") if (match := NAME.fullmatch(path.name))}
    return sorted(steps, key=lambda path: steps[path], reverse=True)


def latest_step(results: Path, run_id: str) -> int | None:
    """The step at which a run would go on, by the names alone; none if it has no checkpoint."""
    found = checkpoints_in(folder_of(results, run_id))
    return int(found[0].name.removeprefix("step-")) if found else None


def place(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step is when it is complete."""
    return folder / f"step-{step:08d}"


def draft(folder: Path, step: int) -> Path:
    """Where it is written."""
    return folder / f"{DRAFT}{step:08d}"


def complete(folder: Path, marker: Marker) -> Path:
    """Put the draft in its place, with its marker; earlier ones but the last go."""
    written, final = draft(folder, marker.step), place(folder, marker.step)
    content = marker.model_dump()
    write_whole(written / MARKER, json.dumps({**content, "digest": digest(content)}, indent=1).encode())
    shutil.rmtree(final, ignore_errors=True)
    written.replace(final)
    sync_folder(folder)
    return final


def keep_only(folder: Path, kept: Iterable[Path]) -> None:
    """Remove all other checkpoints and drafts of the folder."""
    names = {path.name for path in kept}
    for path in (*folder.glob("step-*"), *folder.glob(f"{DRAFT}*")):
        if path.name not in names:
            shutil.rmtree(path, ignore_errors=True)


def read_marker(checkpoint: Path) -> Marker:
    """The marker of a checkpoint; a ValueError says what is wrong with it."""
    try:
        content = json.loads((checkpoint / MARKER).read_text("utf-8"))
        sealed = content.pop("digest") == digest(content)
        marker = Marker.model_validate(content)
    except OSError as error:
        raise ValueError(f"{MARKER} is missing ({error.strerror})") from error
    except (ValidationError, ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{MARKER} is damaged") from error
    if not sealed or place(checkpoint.parent, marker.step).name != checkpoint.name:
        raise ValueError(f"{MARKER} is damaged")
    if any(Path(name).name != name for name in marker.files):
        raise ValueError(f"{MARKER} names files elsewhere")
    return marker


def damage(checkpoint: Path, files: Mapping[str, StoredCheckpoint]) -> str:
    """What is wrong with these files of a checkpoint; empty if nothing is."""
    for name, stored in files.items():
        try:
            size = (checkpoint / name).stat().st_size
            if size != stored.size:
                return f"{name} has {size} bytes instead of {stored.size}"
            if sha256_of(checkpoint / name) != stored.sha256:
                return f"{name} has another SHA-256 than it was written with"
        except OSError as error:
            return f"{name} is missing ({error.strerror})"
    return ""
