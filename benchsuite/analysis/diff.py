"""What differs between two results folders, as the pages show them: cells, verdicts, ranks; and records."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from benchsuite.analysis.claims import Verdict, judged_claims, unrun_claims
from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.papers import Column, Table
from benchsuite.papers.claims import Claim
from benchsuite.papers.schema import RowKey
from benchsuite.records.schema import Record
from benchsuite.setup import differences

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True)
class Side:
    """One results folder: its tables, the sound records by run_id, and what of it is not shown."""

    views: Sequence[TableView]
    records: Mapping[str, Record]
    left_out: Sequence[str] = ()
    """Files that cannot be used, each with the reason."""
    foreign: Sequence[str] = ()
    """Files that are no business of the suite's."""


@dataclass(frozen=True)
class Change(Generic[T]):
    """Something that is not the same on both sides; None where it is not there."""

    before: T | None
    after: T | None

    @property
    def kind(self) -> Literal["new", "gone", "changed"]:
        """What became of it."""
        return "new" if self.before is None else "gone" if self.after is None else "changed"


@dataclass(frozen=True)
class CellChange(Change[Cell]):
    """A cell whose values by seed differ; a cell without values is not there."""

    row: TableRow
    """As it is after the change, where there is one."""
    column: Column


@dataclass(frozen=True)
class RowChange(Change[str]):
    """A row that came or went, or of which other seeds are missing than before. The sides say which, and why."""

    row: TableRow


@dataclass(frozen=True)
class RankChange(Change[int]):
    """Another rank on a column; none where nothing is measured, or where no difference of the board is significant."""

    row: TableRow
    column: Column


@dataclass(frozen=True)
class ClaimChange:
    """A claim that is judged otherwise."""

    claim: Claim
    before: Verdict
    after: Verdict


@dataclass(frozen=True)
class TableChange(Change[TableView]):
    """All that differs in a table at a scale."""

    cells: Sequence[CellChange]
    rows: Sequence[RowChange]
    claims: Sequence[ClaimChange]
    ranks: Sequence[RankChange]
    words: Mapping[str, tuple[Any, Any]]
    """What the page says beside its numbers and how it measures, by dotted name, where both sides have it."""

    @property
    def view(self) -> TableView:
        """After the change; before it, where the table is gone."""
        view = self.after or self.before
        assert view is not None
        return view


@dataclass(frozen=True)
class Changes:
    """Tables with differences, and what became of the records: of the changed ones, the two that are of one run."""

    before: Side
    after: Side
    tables: Sequence[TableChange]
    added: Sequence[Record]
    removed: Sequence[Record]
    changed: Sequence[tuple[Record, Record]]

    @property
    def nothing(self) -> bool:
        """Whether both folders show the same, from the same records."""
        return not (self.tables or self.added or self.removed or self.changed)


def changes(before: Side, after: Side) -> Changes:
    """From one folder to another."""
    old_tables, new_tables = ({(v.request.table, v.request.scale): v for v in side.views} for side in (before, after))
    tables = (_table_change(old, new) for _, old, new in _matched(old_tables, new_tables))
    records = list(_matched(before.records, after.records))
    return Changes(
        before,
        after,
        tables=[table for table in tables if table],
        added=[new for _, old, new in records if new and not old],
        removed=[old for _, old, new in records if old and not new],
        changed=[(old, new) for _, old, new in records if old and new and old.digest != new.digest],
    )


def _matched(before: Mapping[K, T], after: Mapping[K, T]) -> Iterator[tuple[K, T | None, T | None]]:
    """Both sides by key: in the order of the second, and what only the first has at the end."""
    return ((key, before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before]))


def _table_change(before: TableView | None, after: TableView | None) -> TableChange | None:
    """What differs, or None if nothing does."""
    rows = list(_matched(_rows(before), _rows(after)))
    change = TableChange(
        before,
        after,
        cells=[change for _, old, new in rows for change in _cell_changes(old, new)],
        rows=[change for _, old, new in rows for change in _row_change(old, new, before is None or after is None)],
        claims=list(_claim_changes(before, after)),
        ranks=[change for _, old, new in rows for change in _rank_changes(before, old, after, new)],
        words=_words(before, after),
    )
    differs = change.kind != "changed" or change.cells or change.rows or change.claims or change.ranks or change.words
    return change if differs else None


def _rows(view: TableView | None) -> dict[RowKey, TableRow]:
    return {row.key: row for row in view.rows} if view else {}


def _cells(row: TableRow | None) -> dict[str, Cell]:
    """Those with values."""
    return {cell.column.key: cell for cell in row.cells if cell.n} if row else {}


def _cell_changes(before: TableRow | None, after: TableRow | None) -> Iterator[CellChange]:
    row = after or before
    assert row is not None
    old, new = _cells(before), _cells(after)
    for cell in row.cells:
        key = cell.column.key
        a, b = old.get(key), new.get(key)
        if (a and dict(a.values)) != (b and dict(b.values)):
            yield CellChange(a, b, row, cell.column)


def _row_change(before: TableRow | None, after: TableRow | None, whole_table: bool) -> Iterator[RowChange]:
    """Of a table that came or went as a whole, only rows of which seeds are missing are worth a word."""
    row = after or before
    assert row is not None
    old, new = (None if side is None else side.gap for side in (before, after))
    if old != new and (not whole_table or row.measured < row.requested):
        yield RowChange(old, new, row)


def _claim_changes(before: TableView | None, after: TableView | None) -> Iterator[ClaimChange]:
    view = after or before
    assert view is not None
    for _, old, new in _matched(_judged(before, view.table), _judged(after, view.table)):
        if old and new and old[1].kind != new[1].kind:
            yield ClaimChange(new[0], old[1], new[1])


def _judged(view: TableView | None, table: Table) -> dict[object, tuple[Claim, Verdict]]:
    """Claims and verdicts; of a table that is not there, all are not run."""
    judged = [(c.claim, c.verdict) for c in (judged_claims(view) if view else unrun_claims(table))]
    return {(claim.row, claim.reference, claim.column.key): (claim, verdict) for claim, verdict in judged}


def _rank_changes(
    before: TableView | None, old: TableRow | None, after: TableView | None, new: TableRow | None
) -> Iterator[RankChange]:
    row = new or old
    assert row is not None
    a, b = _ranks(before, old), _ranks(after, new)
    for cell in row.cells:
        key = cell.column.key
        if a.get(key) != b.get(key):
            yield RankChange(a.get(key), b.get(key), row, cell.column)


def _ranks(view: TableView | None, row: TableRow | None) -> dict[str, int]:
    """By column; the first rank counts only where some difference is significant."""
    if view is None or row is None:
        return {}
    ranks = {cell.column.key: (view.rank(row, cell), view.is_best(row, cell)) for cell in row.cells}
    return {key: rank.rank for key, (rank, best) in ranks.items() if rank and (best or rank.rank > 1)}


def _words(before: TableView | None, after: TableView | None) -> dict[str, tuple[Any, Any]]:
    if before is None or after is None:
        return {}
    old, new = (view.request.model_dump(mode="json", exclude={"rows"}) for view in (before, after))
    return differences(old, new)
