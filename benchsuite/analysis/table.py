"""The one table object: published beside measured, from which the terminal and every file format are made."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchsuite.papers import Column, PublishedCell, Row, Table
from benchsuite.records.asked import Asked, AskedRow
from benchsuite.records.schema import Record


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
        _row(row, printed.get((row.backbone, row.label)), [c.key for c in table.columns], measures, records, failures)
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
) -> TableRow:
    mine = [records[run] for run in asked.runs.values() if run in records]
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
        gap=asked.not_run or _gap(asked, records, failures),
        note=printed.note if printed else "Not in the paper's table.",
        records=mine,
    )


def _cell(source: PublishedCell | None, values: dict[int, float]) -> Cell:
    return Cell(source.value / 100 if source else None, source, dict(sorted(values.items())))


def _gap(asked: AskedRow, records: Mapping[str, Record], failures: Mapping[str, str]) -> str:
    missing = {seed: run for seed, run in asked.runs.items() if run not in records}
    reasons = [f"seed {seed} failed: {failures[run]}" for seed, run in missing.items() if run in failures]
    waiting = [str(seed) for seed, run in missing.items() if run not in failures]
    return "; ".join([*reasons, *([f"not run yet: seed {', '.join(waiting)}"] if waiting else [])])
