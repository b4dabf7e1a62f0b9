"""Problems of runs, found before any of them starts, and all of them before one is reported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benchsuite.errors import UsageError, each

T = TypeVar("T")
SHOWN = 4
"""Rows that a problem names."""


@dataclass(frozen=True)
class Problem:
    """Why runs cannot be done, found before any of them starts."""

    where: str
    """The recipe and its part, or the table's row."""
    what: str
    rows: Sequence[str] = ()
    """Labels of the rows that it concerns, if `where` does not name one."""

    def __str__(self) -> str:
        more = f" and {len(self.rows) - SHOWN} more" if len(self.rows) > SHOWN else ""
        rows = f" [{', '.join(self.rows[:SHOWN])}{more}]" if self.rows else ""
        return f"{self.where}: {self.what}{rows}"


@dataclass(frozen=True)
class Problems:
    """Problems by where and what they are, with the rows that have them."""

    rows: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, where: str, what: str, row: str) -> None:
        """Note a problem of a row."""
        rows = self.rows.setdefault((where, what), [])
        rows += [row] if row not in rows else []

    def unless(self, where: str, row: str, make: Callable[[], T]) -> T | None:
        """What is made, or nothing and its problems noted."""
        try:
            return make()
        except UsageError as error:
            for what in each(error):
                self.add(where, what, row)
            return None

    def listed(self) -> list[Problem]:
        """All of them."""
        return [Problem(where, what, tuple(rows)) for (where, what), rows in self.rows.items()]
