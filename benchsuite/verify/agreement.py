"""Two results folders: do the tables that both have agree, and what else differs?

The first is the published one, or the earlier one. What may move is stated before. On the same kind of machine with
the same packages no run may. Elsewhere rounding grows into other trainings, so a cell's mean may move as far as two
trainings of its row lie apart: with k shared seeds and the first standard deviation s over n seeds, by t s sqrt(2/k),
where Student's t with n - 1 degrees of freedom is so large that all cells of a true table stay within it but for one
table in 1,000.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, Literal, TypeVar, get_args

from benchsuite.analysis.judged_claims import judged_added, judged_claims
from benchsuite.analysis.results import ResultsFolder
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import UNRUN
from benchsuite.grouping import by_key
from benchsuite.papers.schema import row_name
from benchsuite.records.record_file import FileError, Finding
from benchsuite.records.schema import Record
from benchsuite.records.shipped import shipped_digests
from benchsuite.report.numbers import DASH, counted, in_unit, measured, signed
from benchsuite.verify.retrained import Again, apart, is_other_seed

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
How = Literal["equal", "within bounds", "not judged", "added", "removed", "outside"]
HOWS: tuple[How, ...] = get_args(How)
"""Shared seeds are equal in every digit; they moved, but not farther than stated; no bound can be stated, because the
first folder has too few seeds, or none in common; only one folder has it; they moved farther."""
UNJUDGED = (*UNRUN, "")
"""Verdicts that say nothing of the claim."""


@dataclass(frozen=True)
class CellDiff:
    """One cell of a table."""

    name: str
    before: Cell | None
    after: Cell | None
    cells: int
    """How many cells of the table have seeds in common."""

    @cached_property
    def seeds(self) -> Sequence[int]:
        """Measured in both."""
        return shared_seeds(self.before, self.after)

    @property
    def moved(self) -> float:
        """The second mean minus the first, over these seeds."""
        if not (self.before and self.after and self.seeds):
            return 0.0
        return fmean(self.after.values[seed] - self.before.values[seed] for seed in self.seeds)

    @property
    def bound(self) -> float:
        """How far it may move; infinite where seeds cannot say."""
        if self.before is None or not self.seeds:
            return float("inf")
        return apart([*self.before.values.values()], self.cells, means_of=len(self.seeds))

    @property
    def how(self) -> How:
        if not (self.before and self.after):
            return "removed" if self.before else "added"
        if self.seeds and all(self.after.values[seed] == self.before.values[seed] for seed in self.seeds):
            return "equal"
        if abs(self.moved) > self.bound:
            return "outside"
        return "within bounds" if self.bound < float("inf") else "not judged"

    @property
    def same(self) -> bool:
        return bool(self.before and self.after and dict(self.before.values) == dict(self.after.values))


@dataclass(frozen=True)
class VerdictDiff:
    """One claim, and the kinds of its verdicts; "" where a folder does not have it."""

    name: str
    before: str
    after: str

    @property
    def same(self) -> bool:
        """One word on both sides, or nothing said of the claim on either."""
        return self.before == self.after or {self.before, self.after} <= {*UNJUDGED}

    @property
    def judged(self) -> bool:
        """Whether both folders say something of the claim."""
        return not {self.before, self.after} & {*UNJUDGED}

    @property
    def contradicted(self) -> bool:
        """Confirmed in one folder, and its opposite in the other."""
        return {self.before, self.after} == {"reproduced", "opposite"}


@dataclass(frozen=True)
class TableDiff:
    """A table at a scale; a side is None where a folder does not have it."""

    table: str
    scale: str
    before: TableView | None
    after: TableView | None
    runs: Sequence[Again]
    """Runs that both folders have: the same method, settings, setup and seed."""

    @property
    def title(self) -> str:
        return f"{self.table} at scale {self.scale}"

    @cached_property
    def cells(self) -> list[CellDiff]:
        """Those that a folder has measured."""
        both = list(_matched(*(dict(_cells(view)) for view in (self.before, self.after))))
        count = sum(bool(shared_seeds(before, after)) for _, before, after in both)
        return [CellDiff(name, before, after, count) for name, before, after in both]

    @cached_property
    def verdicts(self) -> list[VerdictDiff]:
        return [VerdictDiff(n, a or "", b or "") for n, a, b in _matched(_kinds(self.before), _kinds(self.after))]

    @cached_property
    def problems(self) -> list[Finding]:
        """Runs that cannot be what the first records say."""
        return [problem for run in self.runs for problem in run.problems()]

    @property
    def agrees(self) -> bool:
        """Whether something was compared, and all of it is as it may be."""
        compared = [cell for cell in self.cells if cell.seeds]
        wrong = any(cell.how == "outside" for cell in compared) or any(each.contradicted for each in self.verdicts)
        return bool(compared) and not (wrong or self.problems)


@dataclass(frozen=True)
class FolderDiff:
    """Two results folders."""

    before: ResultsFolder
    after: ResultsFolder

    @cached_property
    def tables(self) -> list[TableDiff]:
        old, new = (
            {(view.asked.table, view.asked.at): view for view in side.views} for side in (self.before, self.after)
        )
        return [TableDiff(*at, a, b, [*self._runs(b)] if a and b else []) for at, a, b in _matched(old, new)]

    @property
    def shared(self) -> list[TableDiff]:
        """Those that both folders have."""
        return [table for table in self.tables if table.before and table.after]

    @cached_property
    def records(self) -> list[tuple[Literal["added", "removed", "changed"], Record]]:
        """Those that are not the same in both."""
        found: list[tuple[Literal["added", "removed", "changed"], Record]] = []
        for _, old, new in _matched(*(side.contents.records for side in (self.before, self.after))):
            if new and old is None:
                found.append(("added", new))
            elif old and (new is None or old.digest != new.digest):
                found.append(("changed" if new else "removed", old))
        return found

    @property
    def agrees(self) -> bool:
        """Whether there are tables in both folders, and all of them agree."""
        return bool(self.shared) and all(table.agrees for table in self.shared)

    def _runs(self, view: TableView) -> Iterator[Again]:
        for row in view.rows:
            for record in row.records:
                if stored := self.before.contents.records.get(record.run_id):
                    others = [other for other in self.before.contents.records.values() if is_other_seed(other, stored)]
                    yield Again(f"{row_name(row.key)}, seed {record.seed}", stored, record, others)


def shared_seeds(before: Cell | None, after: Cell | None) -> list[int]:
    """The seeds that both cells have."""
    return sorted(before.values.keys() & after.values.keys()) if before and after else []


def _matched(before: Mapping[K, T], after: Mapping[K, T]) -> Iterator[tuple[K, T | None, T | None]]:
    """Both sides by key: in the order of the second, and what only the first has at the end."""
    return ((key, before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before]))


def _cells(view: TableView | None) -> Iterator[tuple[str, Cell]]:
    for row in view.rows if view else ():
        for cell in row.cells:
            if cell.n:
                yield f"{row_name(row.key)}, {cell.column.name}", cell


def _kinds(view: TableView | None) -> dict[str, str]:
    judged = [*judged_claims(view), *judged_added(view)] if view else []
    return {each.claim.name: each.verdict.kind for each in judged if each.claim.headline}


TOLD = 10
"""Records, or tables, of one kind of change that are named."""


def lines(diff: FolderDiff) -> Iterator[str]:
    """What a single folder has, then a few lines a table of both: what was compared, what moved, whether it agrees."""
    for name, side in (("before", diff.before), ("after", diff.after)):
        size = f"{counted(len(side.contents.records), 'record')}, {counted(len(side.views), 'table')}"
        yield f"{name:<7} {side.path}: {size}"
        yield from (f"  skipped: {text}" for text in _skipped(side))
    changes = Counter(change for change, _ in diff.records)
    yield f"records: {', '.join(f'{n} {change}' for change, n in sorted(changes.items())) or 'equal'}"
    for change in sorted(changes.keys() - {"added"}):  # what should not happen by accident
        records = [record for how, record in diff.records if how == change]
        yield from _named(change, [f"{one.method.title}, seed {one.seed}, run {one.run_id}" for one in records])
    alone = [table for table in diff.tables if not (table.before and table.after)]
    by_word = sorted(by_key(("removed" if table.before else "added", table.title) for table in alone).items())
    if alone:
        yield f"tables: {', '.join(f'{len(each)} {word}' for word, each in by_word)}"
    for word, each in by_word:
        yield from _named(word, each)
    for table in diff.shared:
        yield from _table(table)


def _named(change: str, each: Sequence[str]) -> Iterator[str]:
    """The first ones of what changed alike, a line each."""
    yield from (f"  {change}: {one}" for one in each[:TOLD])
    if len(each) > TOLD:
        yield f"  {change}: {len(each) - TOLD:,} more, which --json lists"


def _skipped(side: ResultsFolder) -> list[str]:
    """Invalid files, each with the reason."""
    return [
        f"{error.file.relative_to(side.path)}: {error.reason}" if isinstance(error, FileError) else str(error)
        for error in side.left_out
    ]


def _table(table: TableDiff) -> Iterator[str]:
    hows = Counter(cell.how for cell in table.cells)
    judged = [each for each in table.verdicts if each.judged]
    equal, copied = sum(not run.moved for run in table.runs), sum(run.copied for run in table.runs)
    same = f"; {copied} are the same record, not trained again" if copied else ""
    same += f"; {counted(shipped, 'run')} came with benchsuite" if (shipped := _shipped(table)) else ""
    yield f"{table.title}: {'agrees' if table.agrees else 'does not agree'}"
    yield f"  runs that both have: {len(table.runs)}, of which {equal} are equal in every digit{same}"
    yield f"  verdicts that both have: {len(judged)}, of which {sum(each.same for each in judged)} are the same"
    yield f"  cells: {', '.join(f'{hows[how]} {how}' for how in HOWS if hows[how]) or 'none'}"
    yield from (f"    {problem}" for problem in table.problems)
    for cell in sorted(table.cells, key=lambda cell: HOWS.index(cell.how), reverse=True):
        if not cell.same:
            yield f"    {cell.name}: {_shown(cell.before)} -> {_shown(cell.after)}{_moved(cell)}"
    for each in table.verdicts:
        if not each.same:
            yield f"    {each.name}: {each.before or DASH} -> {each.after or DASH}"


def _shipped(table: TableDiff) -> int:
    """How many runs of both are, in one of the folders, those that come with benchsuite."""
    return sum(not shipped_digests().isdisjoint({run.record.digest, run.again.digest}) for run in table.runs)


def _shown(cell: Cell | None) -> str:
    return f"{measured(cell)} ({counted(cell.n, 'seed')})" if cell else DASH


def _moved(cell: CellDiff) -> str:
    """By how much it moved over the shared seeds, and how far it may."""
    if not cell.seeds or cell.before is None:
        return ""
    unit = cell.before.column.unit
    most = "" if cell.how in ("equal", "not judged") else f" (at most {in_unit(cell.bound, unit)})"
    return f"; {cell.how}, moved by {signed(cell.moved, unit)} over {counted(len(cell.seeds), 'seed')}{most}"


def as_data(diff: FolderDiff) -> dict[str, Any]:
    """For --json; numbers as fractions where the column is in percent."""
    return {
        "agrees": diff.agrees,
        "folders": {
            name: {"records": len(side.contents.records), "skipped": _skipped(side)}
            for name, side in (("before", diff.before), ("after", diff.after))
        },
        "records": [
            {"change": change, "run_id": record.run_id, "method": record.method.name, "seed": record.seed}
            for change, record in diff.records
        ],
        "tables": list(map(_table_data, diff.tables)),
    }


def _table_data(table: TableDiff) -> dict[str, Any]:
    return {
        "table": table.table,
        "scale": table.scale,
        "agrees": table.agrees if table.before and table.after else None,
        "runs": len(table.runs),
        "copied": sum(run.copied for run in table.runs),
        "shipped": _shipped(table),
        "problems": [str(problem) for problem in table.problems],
        "cells": [
            {"cell": cell.name, "how": cell.how, "before": _values(cell.before), "after": _values(cell.after)}
            | ({"moved": cell.moved} if cell.seeds else {})
            | ({"bound": cell.bound} if cell.bound < float("inf") else {})
            for cell in table.cells
        ],
        "verdicts": [{"claim": each.name, "before": each.before, "after": each.after} for each in table.verdicts],
    }


def _values(cell: Cell | None) -> dict[str, float]:
    return {str(seed): value for seed, value in cell.values.items()} if cell else {}
