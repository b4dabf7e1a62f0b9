"""Runs that ended without a record: a note of each stands in the results folder until the run succeeds."""

from typing import Any, Self

from benchsuite.records.schema import MethodPart, Record, TunedBy
from benchsuite.setup import Part, Setup


class Failure(Part):
    """The note of a run that failed, which tells in which row of a table it is missing."""

    run_id: str
    reason: str
    seed: int
    setup: Setup
    method: MethodPart
    tuned: TunedBy | None = None

    @classmethod
    def of(cls, run: Any, reason: str) -> Self:
        """That of a planned run."""
        own = {name: getattr(run, name) for name in cls.model_fields if name != "reason"}
        return cls(reason=reason, **own)


Done = Record | Failure
"""A run that was done or tried."""
