"""Of which runs the numbers of a page are: their data, seeds, days and code."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchsuite.analysis.table_view import TableView
from benchsuite.records.schema import Record
from benchsuite.records.shipped import shipped_digests
from benchsuite.registry import datasets
from benchsuite.report.numbers import counted, seeds_of

BUILT_IN, SYNTHETIC = "benchsuite.data.", "benchsuite.data.synthetic."
REAL = "real data"
COMMITS = 3
"""Of more commits, only their number and the last one are said."""


@dataclass(frozen=True)
class Origin:
    """On what runs were measured, when, and with which code."""

    records: Sequence[Record]
    """In order of their time; at least one."""
    by_row: Sequence[int]
    """How many seeds each measured row has."""

    @classmethod
    def of(cls, views: Sequence[TableView]) -> "Origin | None":
        """Of the runs of these tables; None if there is none."""
        records = {record.run_id: record for view in views for row in view.rows for record in row.records}
        seeds = [row.seeds for view in views for row in view.rows if row.records]
        return cls(sorted(records.values(), key=lambda record: record.created), seeds) if records else None

    @property
    def data(self) -> str:
        """Whether the data are synthetic."""
        return ", ".join(sorted({data_of(record) for record in self.records}, reverse=True))

    @property
    def seeds(self) -> str:
        """`10 seeds`, or `5 to 10 seeds` where rows have different numbers of them."""
        return seeds_of(self.by_row)

    @property
    def days(self) -> str:
        """`2026-11-20`, or `2026-11-20 to 2026-11-22`."""
        first, last = (self.records[at].created[:10] for at in (0, -1))
        return first if first == last else f"{first} to {last}"

    @property
    def code(self) -> str:
        versions = dict.fromkeys(str(record.environment.get("benchsuite") or "unknown") for record in self.records)
        known_commits = [record.environment.get("commit") for record in self.records]
        commits = list(dict.fromkeys(f"commit {str(at)[:7]}" if at else "an installed package" for at in known_commits))
        known = f"{len(commits)} commits, the last {commits[-1]}" if len(commits) > COMMITS else ", ".join(commits)
        shipped = len({record.digest for record in self.records} & shipped_digests())
        elsewhere = f"; {counted(shipped, 'run')} came with benchsuite" if shipped else ""
        return f"benchsuite {', '.join(versions)}, {known}{elsewhere}"


def citation(view: TableView, origin: Origin | None) -> str:
    """What a text that uses the table's numbers says of them."""
    paper = ", ".join(filter(None, (view.table.source or view.table.paper, view.table.locator)))
    runs = f"{origin.seeds}, {origin.days}, {origin.code}" if origin else "no runs"
    return f"{view.asked.table} at scale {view.asked.shown} ({runs}). Published numbers and claims: {paper}."


def data_of(record: Record) -> str:
    """Whether a run's data are synthetic."""
    name = record.setup.data.name
    card = datasets.card(name) if name in datasets else None
    if card is None or not card.module.startswith(BUILT_IN):
        return "data of a plugin"
    return "synthetic data" if card.module.startswith(SYNTHETIC) else REAL
