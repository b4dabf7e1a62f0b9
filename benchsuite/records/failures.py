"""Runs that ended without a record: a note of each stands in the results folder until the run succeeds."""

from typing import Protocol

from benchsuite.records.schema import MethodPart, TunedBy
from benchsuite.setup import Part, Setup


class Done(Protocol):
    """A run that was done or tried: a record, the note of a failure, or a plan."""

    @property
    def run_id(self) -> str:
        """Its identity."""

    @property
    def setup(self) -> Setup:
        """What it ran under."""

    @property
    def method(self) -> MethodPart:
        """What it trained with."""

    @property
    def seed(self) -> int:
        """Its replicate."""

    @property
    def tuned(self) -> TunedBy | None:
        """Its search."""


class Failure(Part):
    """The note of a run that failed, which tells in which row of a table it is missing."""

    run_id: str
    reason: str
    seed: int
    setup: Setup
    method: MethodPart
    tuned: TunedBy | None = None

    @classmethod
    def of(cls, run: Done, reason: str) -> "Failure":
        """That of a run."""
        return cls(run_id=run.run_id, reason=reason, seed=run.seed, setup=run.setup, method=run.method, tuned=run.tuned)
