"""Problems of runs, found before any of them starts, and all of them before one is reported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benchsuite.errors import UsageError, each
from benchsuite.grouping import by_key

T = TypeVar("T")
SHOWN = 4
"""Rows and places that a problem names."""


@dataclass(frozen=True)
class Problem:
    """Why runs cannot be done, found before any of them starts."""

    where: str
    """The recipe and its part, or the table's row."""
    what: str
    rows: Sequence[str] = ()
    """Labels of the rows that it concerns, if `where` does not name one."""

    def __str__(self) -> str:
        rows = f" [{and_more(self.rows)}]" if self.rows else ""
        return f"{self.where}: {self.what}{rows}"


@dataclass(frozen=True)
class Problems:
    """Problems by where and what they are, with the rows that have them."""

    rows: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, where: str, what: str, row: str) -> None:
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
        """All of them; what is wrong in several places alike is one."""
        alike = by_key((what, where) for where, what in self.rows)
        return [
            Problem(and_more(places), what, tuple(dict.fromkeys(row for at in places for row in self.rows[at, what])))
            for what, places in alike.items()
        ]


def and_more(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
