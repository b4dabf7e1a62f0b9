"""For each column of a table and of a board: do its rows differ at all, and how often is each above the reference?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from benchsuite.analysis.boards import Board, BoardRow
from benchsuite.analysis.omnibus import Improvement, Omnibus, friedman, improvement
from benchsuite.analysis.pairing import unpairable
from benchsuite.analysis.ranking import Better
from benchsuite.analysis.stats import BySeed
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Column
from benchsuite.papers.claim import reference_of

T = TypeVar("T")


@dataclass(frozen=True)
class ColumnTest:
    """A column of a board."""

    column: Column
    omnibus: Omnibus
    improvements: Mapping[str, Improvement]
    """By row, over the board's reference; none where the column has no better direction."""


@dataclass(frozen=True)
class BoardTest:
    """Rows that may be compared, on each column that is measured."""

    backbone: str
    variant: str
    reference: str
    """The row that others are compared with; "" if it was not run."""
    columns: list[ColumnTest]

    @property
    def reason(self) -> str:
        """Why no column is tested, where it is the same for all."""
        return self._common(test.omnibus.reason for test in self.columns) or ""

    @property
    def size(self) -> tuple[int, int] | None:
        """Rows and seeds of the test, where they are the same for all columns."""
        return self._common((test.omnibus.rows, len(test.omnibus.seeds)) for test in self.columns)

    @staticmethod
    def _common(values: Iterable[T]) -> T | None:
        found = set(values)
        return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=1)  # a page shows the tests, and exports them
def overall_of_table(view: TableView) -> list[BoardTest]:
    """Each board of a table; its reference is that of `papers.claim.reference_of`."""
    tests = []
    for (backbone, variant), rows in view.boards.items():
        first = reference_of(view.table, backbone, rows[0].variant)
        names = {row.key: row.shown for row in rows}
        skipped = {
            part: unpairable({row.shown: row.cells[number].records for row in rows}, view.table.factors)
            for part, number in {column.part: number for number, column in enumerate(view.columns)}.items()
        }
        reference = names.get(first.key, "") if first else ""
        columns = [
            _column_test(column, {row.shown: row.cells[n].values for row in rows}, reference, skipped[column.part])
            for n, column in enumerate(view.columns)
            if any(row.cells[n].n for row in rows)
        ]
        tests.append(BoardTest(backbone, variant, reference, columns))
    return tests


def overall_of_board(board: Board, reference: BoardRow) -> BoardTest:
    """All of its tasks."""
    columns = [
        _column_test(
            task.column, {row.label: row.values(task) for row in board.rows}, reference.label, board.unpairable
        )
        for task in board.tasks
    ]
    return BoardTest(board.title, "", reference.label, columns)


def _column_test(
    column: Column,
    values: Mapping[str, BySeed],
    reference: str,
    unpairable: Mapping[tuple[str, str], Mapping[int, str]],
) -> ColumnTest:
    improvements = {}
    if column.better != "neither":
        better: Better = column.better
        for name, ours in values.items():
            skipped = unpairable.get((min(name, reference), max(name, reference)), {})
            paired = {seed: value for seed, value in ours.items() if seed not in skipped}
            found = improvement(paired, values.get(reference, {}), better) if name != reference else None
            if found:
                improvements[name] = found
    return ColumnTest(column, friedman(values, unpairable), improvements)
