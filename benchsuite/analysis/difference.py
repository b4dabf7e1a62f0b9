"""In what two runs differ, field by field, and what that means: one board, a pair, a repetition."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchsuite.analysis.pairing import pairable
from benchsuite.records.schema import Record
from benchsuite.records.stale import stale
from benchsuite.setup import differences

Fields = dict[str, tuple[Any, Any]]
"""Dotted name to both values."""


@dataclass(frozen=True)
class Difference:
    """Two runs beside each other."""

    left: Record
    right: Record

    @cached_property
    def fields(self) -> dict[str, Fields]:
        """What differs, by part of the record; results only of one run measured twice, where nothing should."""
        parts = ("setup", "method", "seed", "digests", "environment", *(("results",) if self.repeated else ()))
        a, b = self.left.as_json(), self.right.as_json()
        found = {part: differences({part: a[part]}, {part: b[part]}) for part in parts}
        return {part: {_within(part, name): values for name, values in some.items()} for part, some in found.items()}

    @property
    def repeated(self) -> bool:
        """Whether both are measurements of one run."""
        return self.left.run_id == self.right.run_id

    @property
    def not_comparable(self) -> str:
        """Why the two may not share a board; nothing if they may."""
        if self.left.setup_id == self.right.setup_id:
            return ""
        return f"their setups differ in {', '.join(self.fields['setup'])}"

    @property
    def not_paired(self) -> str:
        """Why the two may not be paired; nothing if they may."""
        if self.repeated:
            return "they are one run"
        return self.not_comparable or pairable(self.left, self.right)

    def verdicts(self) -> Iterator[str]:
        """What it means, in sentences."""
        board, pair = self.not_comparable, self.not_paired
        if self.left.digest == self.right.digest:
            yield "One and the same record."
        elif self.repeated:
            moved = len(self.fields["results"])
            told = f"{moved} of its numbers moved" if moved else "all its numbers are equal"
            yield f"One run, measured twice; {told}."
        elif not board and self.left.method_id == self.right.method_id:
            yield "Two seeds of one row."
        else:
            yield f"They may not share a board: {board}." if board else "One setup: they may share a board."
            yield f"They may not be paired: {pair}." if pair else "They may be paired: a seed meant the same to both."
        for name, record in (("the first", self.left), ("the second", self.right)):
            if said := stale(record):
                yield f"Stale: {name} was {said}."
        if self.left.environment.get("threads") != self.right.environment.get("threads"):
            yield "They computed with different numbers of threads, which moves the last digits of every loss."


def _within(part: str, name: str) -> str:
    """The field's name inside of its part; the part's where it is a single value."""
    return name.removeprefix(f"{part}.")
