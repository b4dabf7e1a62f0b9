"""A published table measured again: do cells and verdicts of the second folder agree with those of the first?

What may move is stated before. On the same kind of machine with the same packages nothing may. Elsewhere rounding
grows into other trainings, so a cell's mean may move as far as two trainings of its row lie apart: with k shared seeds
and the published standard deviation s over n seeds, by t s sqrt(2/k), where Student's t with n - 1 degrees of freedom
is so large that all cells of a true table stay within it but for one table in 1,000.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Literal, get_args

from benchsuite.analysis.folder_diff import FolderSide
from benchsuite.analysis.judged_claims import judged_added, judged_claims
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import Verdict
from benchsuite.papers.schema import row_name
from benchsuite.records.record_file import Finding
from benchsuite.verify.retrained import Again, apart, is_other_seed

How = Literal["equal", "within bounds", "outside", "not judged"]
HOWS: tuple[How, ...] = get_args(How)
"""Equal in every digit; moved, but not farther than stated; farther; too few published seeds to state a bound."""


@dataclass(frozen=True)
class CellAgain:
    """One cell in both folders, on the seeds that both have."""

    name: str
    published: Cell
    again: Cell
    cells: int
    """How many cells of the table are compared."""

    @property
    def seeds(self) -> Sequence[int]:
        """Measured in both."""
        return sorted(self.published.values.keys() & self.again.values.keys())

    @property
    def moved(self) -> float:
        """Ours now minus the published mean, over these seeds."""
        return fmean(self.again.values[seed] - self.published.values[seed] for seed in self.seeds)

    @property
    def bound(self) -> float:
        """How far it may move; infinite where seeds cannot say."""
        return apart([*self.published.values.values()], self.cells, means_of=len(self.seeds))

    @property
    def how(self) -> How:
        """Whether it agrees."""
        if all(self.again.values[seed] == self.published.values[seed] for seed in self.seeds):
            return "equal"
        if abs(self.moved) > self.bound:
            return "outside"
        return "within bounds" if self.bound < float("inf") else "not judged"


@dataclass(frozen=True)
class VerdictAgain:
    """One claim in both folders."""

    name: str
    published: Verdict
    again: Verdict

    @property
    def same(self) -> bool:
        """One word on both sides."""
        return self.published.kind == self.again.kind

    @property
    def contradicted(self) -> bool:
        """Confirmed in one folder, and its opposite in the other."""
        return {self.published.kind, self.again.kind} == {"reproduced", "opposite"}


@dataclass(frozen=True)
class TableAgain:
    """A table at a scale in both folders."""

    published: TableView
    again: TableView
    runs: Sequence[Again]
    """Runs that both folders have: the same method, settings, setup and seed."""

    @cached_property
    def cells(self) -> list[CellAgain]:
        """Those that both have measured, with a seed in common."""
        old, new = (dict(_cells(view)) for view in (self.published, self.again))
        both = [key for key in old if key in new and old[key][1].values.keys() & new[key][1].values.keys()]
        return [CellAgain(old[key][0], old[key][1], new[key][1], len(both)) for key in both]

    @cached_property
    def verdicts(self) -> list[VerdictAgain]:
        """Of the claims that were judged in both."""
        old, new = (
            {judged.claim.name: judged.verdict for judged in (*judged_claims(view), *judged_added(view))}
            for view in (self.published, self.again)
        )
        both = [
            name for name in old if name in new and old[name].kind not in UNJUDGED and new[name].kind not in UNJUDGED
        ]
        return [VerdictAgain(name, old[name], new[name]) for name in both]

    @cached_property
    def problems(self) -> list[Finding]:
        """Runs that cannot be what the published records say."""
        return [problem for run in self.runs for problem in run.problems()]

    @property
    def agrees(self) -> bool:
        """Whether something was compared, and all of it is as it may be."""
        wrong = any(cell.how == "outside" for cell in self.cells) or any(each.contradicted for each in self.verdicts)
        return bool(self.cells) and not (wrong or self.problems)


UNJUDGED = ("not run", "not selected")
"""Verdicts that say nothing of the claim."""


def tables_again(published: FolderSide, again: FolderSide) -> list[TableAgain]:
    """The tables that both folders have."""
    old = {(view.request.table, view.request.at): view for view in published.views}
    return [
        TableAgain(old[at], view, list(_runs(published, again, view)))
        for view in again.views
        if (at := (view.request.table, view.request.at)) in old
    ]


def _cells(view: TableView) -> Iterator[tuple[tuple[str, ...], tuple[str, Cell]]]:
    for row in view.rows:
        for cell in row.cells:
            name = row_name(row.key)
            yield (*row.key, cell.column.key), (f"{name}, {cell.column.name}", cell)


def _runs(published: FolderSide, again: FolderSide, view: TableView) -> Iterator[Again]:
    for row in view.rows:
        for record in row.records:
            if stored := published.records.get(record.run_id):
                others = [other for other in published.records.values() if is_other_seed(other, stored)]
                yield Again(f"{row_name(row.key)}, seed {record.seed}", stored, record, others)
