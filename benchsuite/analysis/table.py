"""The one table object: published beside measured, from which the terminal and every file format are made."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchsuite.papers import Column, PublishedCell, Row, Table
from benchsuite.records.asked import Asked, AskedRow
from benchsuite.records.schema import Record
from benchsuite.setup import differences


@dataclass(frozen=True)
class Cell:
    """One number of a paper and ours, as fractions, by seed."""

    published: float | None
    source: PublishedCell | None
    values: Mapping[int, float]

    @property
    def n(self) -> int:
        """Seeds measured."""
        return len(self.values)

    @property
    def mean(self) -> float | None:
        """Mean over seeds."""
        return statistics.fmean(self.values.values()) if self.values else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over seeds; none for fewer than two."""
        return statistics.stdev(self.values.values()) if self.n > 1 else None


@dataclass(frozen=True)
class TableRow:
    """A row of the table; `gap` says why seeds are missing, if any are."""

    label: str
    backbone: str
    method: str
    cells: Sequence[Cell]
    asked: int
    gap: str
    note: str
    records: Sequence[Record]

    @property
    def measured(self) -> int:
        """Seeds with a record."""
        return len(self.records)


@dataclass(frozen=True)
class TableView:
    """A table at a scale."""

    table: Table
    asked: Asked
    rows: Sequence[TableRow]

    @property
    def columns(self) -> Sequence[Column]:
        """The paper's columns."""
        return self.table.columns

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Column groups with their widths, in order."""
        names = [column.group for column in self.columns]
        return [(name, names.count(name)) for name in dict.fromkeys(names)]

    @property
    def backbones(self) -> dict[str, list[TableRow]]:
        """Rows by backbone, in order."""
        return {
            name: [row for row in self.rows if row.backbone == name]
            for name in dict.fromkeys(r.backbone for r in self.rows)
        }

    @property
    def stand_ins(self) -> dict[str, str]:
        """What stands for each group of columns at this scale."""
        return {c.group: c.stand_in[self.asked.track] for c in self.columns if self.asked.track in c.stand_in}

    @property
    def gaps(self) -> bool:
        """Whether any row has something to explain."""
        return any(row.gap for row in self.rows)

    @property
    def row_notes(self) -> list[tuple[str, str]]:
        """Notes on rows by label, each once."""
        return list(dict.fromkeys((row.label, row.note) for row in self.rows if row.note))

    @property
    def origins(self) -> list[str]:
        """What the runs ran on, and how many on each."""
        found = Counter(_origin(record) for row in self.rows for record in row.records)
        return [f"{count} runs: {origin}" for origin, count in found.most_common()]

    @property
    def complete(self) -> bool:
        """Whether every seed asked for has a record."""
        return all(row.measured == row.asked for row in self.rows)


def build_table(table: Table, asked: Asked, records: Mapping[str, Record], failures: Mapping[str, str]) -> TableView:
    """The view of a table from what was asked for and what is there. Rows stand in the paper's order, others after."""
    order = {(row.backbone, row.label): number for number, row in enumerate(table.rows)}
    backbones = list(dict.fromkeys([*(row.backbone for row in table.rows), *(row.backbone for row in asked.rows)]))
    printed = {(row.backbone, row.label): row for row in table.rows}
    rows = sorted(
        asked.rows,
        key=lambda row: (backbones.index(row.backbone), order.get((row.backbone, row.label), len(order))),
    )
    measures = [column.measure[asked.track] for column in table.columns]
    built = [
        _row(
            row,
            printed.get((row.backbone, row.label)),
            [c.key for c in table.columns],
            measures,
            records,
            failures,
            _other_setup(row, asked, records),
        )
        for row in rows
    ]
    return TableView(table, asked, built)


def _row(
    asked: AskedRow,
    printed: Row | None,
    keys: Sequence[str],
    measures: Sequence[str],
    records: Mapping[str, Record],
    failures: Mapping[str, str],
    other_setup: str,
) -> TableRow:
    mine = [] if other_setup else [records[run] for run in asked.runs.values() if run in records]
    published = printed.published if printed else {}
    cells = [
        _cell(published.get(key), {r.seed: r.metric(m) for r in mine}) for key, m in zip(keys, measures, strict=True)
    ]
    return TableRow(
        label=asked.label,
        backbone=asked.backbone,
        method=asked.method or "",
        cells=cells,
        asked=len(asked.runs),
        gap=asked.not_run or other_setup or _gap(asked, records, failures),
        note=printed.note if printed else "Not in the paper's table.",
        records=mine,
    )


def _cell(source: PublishedCell | None, values: dict[int, float]) -> Cell:
    return Cell(source.value / 100 if source else None, source, dict(sorted(values.items())))


def _origin(record: Record) -> str:
    e = defaultdict(lambda: "unknown", record.environment)
    source = f"commit {e['commit'][:12]}{' with changes' if e['dirty'] else ''}" if e["commit"] else "installed package"
    where = f"{e['processor']}, {e['device']}, {e['threads']} threads, {e['processes']} processes"
    return f"benchsuite {e['benchsuite']} ({source}), {where}, {record.created[:10]}"


def _other_setup(row: AskedRow, asked: Asked, records: Mapping[str, Record]) -> str:
    """Why a row is not comparable with what was asked for last on its backbone: the fields in which setups differ."""
    current = asked.setups.get(row.backbone, row.setup_id)
    if not row.method or row.setup_id == current:
        return ""
    setups = {record.setup_id: record.setup for record in records.values()}
    fields = []
    if row.setup_id in setups and current in setups:
        theirs, ours = (setups[key].model_dump(mode="json") for key in (row.setup_id, current))
        fields = [f"{name} {left!r} against {right!r}" for name, (left, right) in differences(theirs, ours).items()]
    why = f" ({'; '.join(fields)})" if fields else ""
    return f"not comparable: measured under another setup, {row.setup_id}{why}; ask for this row again"


def _gap(asked: AskedRow, records: Mapping[str, Record], failures: Mapping[str, str]) -> str:
    missing = {seed: run for seed, run in asked.runs.items() if run not in records}
    reasons = [f"seed {seed} failed: {failures[run]}" for seed, run in missing.items() if run in failures]
    waiting = [str(seed) for seed, run in missing.items() if run not in failures]
    return "; ".join([*reasons, *([f"not run yet: seed {', '.join(waiting)}"] if waiting else [])])
