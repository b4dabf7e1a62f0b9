"""Of which runs the numbers of a page are: their data, seeds, days and code, and what chance alone would reach."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchsuite.analysis.tables import TableView
from benchsuite.papers import Column
from benchsuite.records.schema import Record
from benchsuite.registry import datasets
from benchsuite.report.numbers import counted

BUILT_IN, SYNTHETIC = "benchsuite.data.", "benchsuite.data.synthetic."
COMMITS = 3
"""Of more commits, only their number and the last one are said."""
RECALL = re.compile(r"(?:i2t|t2i)_r(\d+)")
"""Metrics of retrieval, by their depth."""


@dataclass(frozen=True)
class Origin:
    """On what runs were measured, when, and with which code."""

    records: Sequence[Record]
    """In order of their time; at least one."""

    @classmethod
    def of(cls, views: Sequence[TableView]) -> "Origin | None":
        """Of the runs of these tables; None if there is none."""
        records = {record.run_id: record for view in views for row in view.rows for record in row.records}
        return cls(sorted(records.values(), key=lambda record: record.created)) if records else None

    @property
    def data(self) -> str:
        """Whether the data are synthetic."""
        return ", ".join(sorted({_data(record) for record in self.records}, reverse=True))

    @property
    def seeds(self) -> int:
        """How many there are."""
        return len({record.seed for record in self.records})

    @property
    def cpu_hours(self) -> float | None:
        """That the runs took, where all of them say it: training and evaluation."""
        spent = [record.cost.get("cpu_seconds") for record in self.records]
        known = [float(seconds) for seconds in spent if seconds is not None]
        return sum(known) / 3600 if len(known) == len(spent) else None

    @property
    def days(self) -> str:
        """`2026-11-20`, or `2026-11-20 to 2026-11-22`."""
        first, last = (self.records[at].created[:10] for at in (0, -1))
        return first if first == last else f"{first} to {last}"

    @property
    def code(self) -> str:
        """Versions and commits."""
        versions = dict.fromkeys(str(record.environment.get("benchsuite") or "unknown") for record in self.records)
        commits = list(dict.fromkeys(_commit(record) for record in self.records))
        if len(commits) > COMMITS:
            return f"benchsuite {', '.join(versions)}, {len(commits)} commits, the last {commits[-1]}"
        return f"benchsuite {', '.join(versions)}, {', '.join(commits)}"


def chance(view: TableView, column: Column) -> float | None:
    """What a random order of the test set would retrieve; None for other metrics, and where the size is not known.

    Each picture has captions of its own, so it is the same in both directions: the depth over the number of pictures.
    """
    protocol, _, metric = view.request.measures.get(column.key, "").partition(".")
    depth = RECALL.fullmatch(metric)
    number = view.columns.index(column)
    for record in (record for row in view.rows for record in row.cells[number].records.values()):
        asked, result = record.setup.protocols.get(protocol), record.results.get(protocol)
        if depth and asked and result:
            gallery = asked.options.get("gallery") or result.counts.get("i2t")
            return min(1.0, int(depth[1]) / int(gallery)) if gallery else None
    return None


def citation(view: TableView, origin: Origin | None) -> str:
    """What a text that uses the table's numbers says of them."""
    paper = ", ".join(filter(None, (view.table.source or view.table.paper, view.table.locator)))
    runs = f"{counted(origin.seeds, 'seed')}, {origin.days}, {origin.code}" if origin else "no runs"
    return f"{view.request.table} at scale {view.request.shown} ({runs}). Published numbers and claims: {paper}."


def _data(record: Record) -> str:
    name = record.setup.data.name
    card = datasets.card(name) if name in datasets else None
    if card is None or not card.module.startswith(BUILT_IN):
        return "data of a plugin"
    return "synthetic data" if card.module.startswith(SYNTHETIC) else "real data"


def _commit(record: Record) -> str:
    commit = record.environment.get("commit")
    return f"commit {str(commit)[:7]}" if commit else "an installed package"
