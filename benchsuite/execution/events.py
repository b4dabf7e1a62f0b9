"""Events of running: for showing progress and storing results."""

import traceback
from dataclasses import dataclass
from pathlib import Path

from benchsuite.planning.plan import Run
from benchsuite.records.schema import Record


@dataclass(frozen=True)
class Queued:
    """A run waits in a cluster's queue, or is in a job already."""

    run: Run
    job: str
    obstacle: str = ""
    """Why it waits, if not for its turn: such a job may wait for ever."""


@dataclass(frozen=True)
class Started:
    """A worker took a run."""

    run: Run


@dataclass(frozen=True)
class Stepped:
    """A run finished a step."""

    run: Run
    step: int


@dataclass(frozen=True)
class Noted:
    """Something that a user should know about a run: it goes on from a checkpoint, one could not be written."""

    run: Run
    text: str


@dataclass(frozen=True)
class Finished:
    """A run is done; the bytes are its ranks file."""

    run: Run
    record: Record
    ranks: bytes


@dataclass(frozen=True)
class Failed:
    """A run ended without a record."""

    run: Run
    reason: str
    traceback: str = ""
    """Only of unexpected failures."""
    diverged: bool = False
    """Whether the hyper-parameters are at fault: the loss became no number."""
    interrupted: bool = False
    """Whether its process was asked to stop; it goes on from its checkpoint."""


def unexpected(error: Exception) -> str:
    """An error that nobody expected, in a line: what it is, and where in the suite or a plugin."""
    frames = traceback.extract_tb(error.__traceback__)
    where = next((f for f in reversed(frames) if "site-packages" not in f.filename), frames[-1])
    return f"{type(error).__name__}: {' '.join(str(error).split())} ({Path(where.filename).name}, line {where.lineno})"


Event = Queued | Started | Stepped | Noted | Finished | Failed
