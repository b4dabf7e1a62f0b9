"""In what two runs differ, and whether they may share a board and be paired."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchsuite.analysis.pairing import comparable_fields, pairable
from benchsuite.records.method_version import stale
from benchsuite.records.schema import Record
from benchsuite.setup import differences


@dataclass(frozen=True)
class RunDiff:
    """Two runs: in what they differ, and whether they may be compared and paired."""

    left: Record
    right: Record

    @cached_property
    def fields(self) -> dict[str, dict[str, tuple[Any, Any]]]:
        """What differs, by part of the record and dotted name.

        Results only of one run that was measured twice, where nothing should differ.
        """
        parts = ("setup", "method", "seed", "digests", "environment", *(("results",) if self.repeated else ()))
        a, b = self.left.as_json(), self.right.as_json()
        return {
            part: {
                name.removeprefix(f"{part}."): values
                for name, values in differences({part: a[part]}, {part: b[part]}).items()
            }
            for part in parts
        }

    @property
    def repeated(self) -> bool:
        """Whether both are measurements of one run."""
        return self.left.run_id == self.right.run_id

    @property
    def not_comparable(self) -> str:
        """Why the two may not share a board; nothing if they may."""
        fields = comparable_fields(self.left, self.right)
        return f"their setups differ in {', '.join(fields)}" if fields else ""

    @property
    def not_paired(self) -> str:
        """Why the two may not be paired; nothing if they may."""
        if self.repeated:
            return "they are one run"
        return self.not_comparable or pairable(self.left, self.right)

    def verdicts(self) -> Iterator[str]:
        board, pair = self.not_comparable, self.not_paired
        if self.left.digest == self.right.digest:
            yield "One and the same record."
        elif self.repeated:
            moved = len(self.fields["results"])
            numbers = f"{moved} of its numbers moved" if moved else "all its numbers are equal"
            yield f"One run, measured twice; {numbers}."
        elif not board and self.left.method_id == self.right.method_id:
            yield "Two seeds of one row."
        elif board:
            yield f"They may not share a board, nor be paired: {board}."
        else:
            equal = self.left.setup_id == self.right.setup_id
            yield f"{'One setup' if equal else 'Their setups are equal in all that both read'}: they may share a board."
            yield f"They may not be paired: {pair}." if pair else "They may be paired: a seed meant the same to both."
        for name, record in (("the first", self.left), ("the second", self.right)):
            if why := stale(record):
                yield f"Stale: {name} was {why}."
        if self.left.environment.get("threads") != self.right.environment.get("threads"):
            yield "They computed with different numbers of threads, which moves the last digits of every loss."
