"""What differs between two results folders, as the pages show them, and between two runs."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from benchsuite.analysis.judged_claims import judged_added, judged_claims, unrun_claims
from benchsuite.analysis.pairing import comparable_fields, pairable
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import Verdict
from benchsuite.papers import Table
from benchsuite.papers.schema import row_name
from benchsuite.records.method_version import stale
from benchsuite.records.schema import Record, StoredNumber
from benchsuite.setup import differences

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Kind = Literal["records", "tables", "cells", "verdicts", "ranks", "missing runs", "page text"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What can differ, in reading order."""


@dataclass(frozen=True)
class FolderSide:
    """One results folder: its name and tables, the valid records by run_id, and the files that are not shown."""

    folder: str
    views: Sequence[TableView]
    records: Mapping[str, Record]
    skipped: Sequence[str] = ()
    """Invalid files, each with the reason."""
    ignored: Sequence[str] = ()
    """Files that are no records."""


class DiffItem(NamedTuple):
    """Something that can differ."""

    kind: Kind
    name: str
    """For readers: `RN50/TeMo, MSCOCO IR@1`."""
    keys: tuple[tuple[str, str], ...] = ()
    """For programs: row and column, say."""


@dataclass(frozen=True)
class Difference:
    """An item that is not the same on both sides; a side is None where it does not have the item.

    Sides are: a table's number of rows, a Cell, a Verdict, a rank, why runs of a row are missing, the value of a field
    of the request, a Record.
    """

    item: DiffItem
    before: Any
    after: Any

    @property
    def change(self) -> Literal["added", "removed", "changed"]:
        """What became of it."""
        return "added" if self.before is None else "removed" if self.after is None else "changed"


@dataclass(frozen=True)
class FolderDiff:
    """All differences of two results folders."""

    sides: Mapping[Literal["before", "after"], FolderSide]
    tables: Mapping[tuple[str, str], Sequence[Difference]]
    """By table and scale; only tables that differ."""
    records: Sequence[Difference]

    @property
    def same(self) -> bool:
        """Whether both folders show the same, from the same records."""
        return not (self.tables or self.records)


def diff_folders(before: FolderSide, after: FolderSide) -> FolderDiff:
    """From one folder to another."""
    old_views, new_views = ({(v.request.table, v.request.at): v for v in side.views} for side in (before, after))
    tables = {name: list(_table_differences(old, new)) for name, old, new in _matched(old_views, new_views)}
    records = [
        Difference(DiffItem("records", _run_name(new or old), (("run_id", run_id),)), old, new)
        for run_id, old, new in _matched(before.records, after.records)
        if not (old and new and old.digest == new.digest)
    ]
    return FolderDiff(
        {"before": before, "after": after}, {name: table for name, table in tables.items() if table}, records
    )


def _matched(before: Mapping[K, T], after: Mapping[K, T]) -> Iterator[tuple[K, T | None, T | None]]:
    """Both sides by key: in the order of the second, and what only the first has at the end."""
    return ((key, before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before]))


def _run_name(record: Record | None) -> str:
    return f"{record.method.title}, seed {record.seed}, run {record.run_id}" if record else ""


def _table_differences(before: TableView | None, after: TableView | None) -> Iterator[Difference]:
    table, whole = next(view.table for view in (before, after) if view), not (before and after)
    old, new = (dict(_items(view, table, whole)) for view in (before, after))
    for item, a, b in sorted(_matched(old, new), key=lambda match: KINDS.index(match[0].kind)):
        if _compared(a) != _compared(b):
            yield Difference(item, a, b)
    if before and after:
        texts = [view.request.model_dump(mode="json", exclude={"rows"}) for view in (before, after)]
        for field, values in differences(texts[0], texts[1]).items():
            yield Difference(DiffItem("page text", field, (("field", field),)), *values)


def _items(view: TableView | None, table: Table, whole: bool) -> Iterator[tuple[DiffItem, Any]]:
    """What the page of a table shows. Of a table that is not there, all claims are not run.

    Where a whole table was added or removed, only rows with missing runs are listed as such.
    """
    for judged in [*judged_claims(view), *judged_added(view)] if view else unrun_claims(table):
        claim = judged.claim
        rows = ("row", row_name(claim.row)), ("reference", row_name(claim.reference))
        yield DiffItem("verdicts", claim.name, (*rows, ("column", claim.column.key))), judged.verdict
    if view is None:
        return
    if whole:
        yield DiffItem("tables", ""), len(view.rows)
    for row in view.rows:
        name = row_name(row.key)
        key = ("row", name)
        for cell in row.cells:
            where, keys = f"{name}, {cell.column.name}", (key, ("column", cell.column.key))
            if cell.n:
                yield DiffItem("cells", where, keys), cell
            rank = view.rank(row, cell)
            if rank and (rank.rank > 1 or view.is_best(row, cell)):  # where all are tied, the first rank means nothing
                yield DiffItem("ranks", where, keys), rank.rank
        if not whole or row.measured < row.requested:
            yield DiffItem("missing runs", name, (key,)), row.gap


def _compared(value: Any) -> Any:
    """What must be equal: of cells the values by seed, of verdicts the kind, of anything else all of it.

    Verdicts without runs are alike: the claims of a table that is not there are not run, and some of them not selected
    as soon as it is.
    """
    if isinstance(value, Verdict):
        return "not run" if value.kind == "not selected" else value.kind
    return dict(value.values) if isinstance(value, Cell) else value


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
    def scores(self) -> dict[str, tuple[StoredNumber | None, StoredNumber | None]]:
        """The numbers of both runs by "protocol.metric"; none where a run did not measure it."""
        sides = ({f"{n.protocol}.{n.metric}": n for n in record.numbers()} for record in (self.left, self.right))
        return {name: (a, b) for name, a, b in _matched(*sides)}

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
        """What it means, in sentences."""
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
