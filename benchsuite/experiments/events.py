"""Events of running: for showing progress and storing results."""

from dataclasses import dataclass

from benchsuite.experiments.plan import Run
from benchsuite.records.schema import Record


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


Event = Started | Stepped | Finished | Failed
