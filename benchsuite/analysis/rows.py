"""A row of a table: for each column the published number and ours by seed."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from benchsuite.analysis.stats import half_width
from benchsuite.papers import Column, PublishedCell
from benchsuite.papers.schema import RowKey
from benchsuite.records.method_version import stale
from benchsuite.records.schema import Record


@dataclass(frozen=True)
class Cell:
    """One number of a paper and ours by seed; fractions where the column is in percent."""

    column: Column
    source: PublishedCell | None
    records: Mapping[int, Record]
    """By seed."""
    measure: str | None
    """"protocol.metric", or "mean(...)" of several; none where nothing measures the column."""
    mean_of: Sequence["Cell"] = ()
    """The cells whose mean it is, if it is not measured itself."""

    @property
    def published(self) -> float | None:
        if self.source is None:
            return None
        return self.source.value / 100 if self.column.unit == "percent" else self.source.value

    @cached_property
    def values(self) -> Mapping[int, float]:
        """Ours, by seed; of runs that measured it."""
        if self.mean_of:
            common = set.intersection(*({*cell.values} for cell in self.mean_of))
            return {seed: statistics.fmean(cell.values[seed] for cell in self.mean_of) for seed in sorted(common)}
        found = {seed: record.value(self.measure or "") for seed, record in self.records.items()}
        return {seed: value for seed, value in found.items() if value is not None}

    @property
    def untuned(self) -> bool:
        """Whether nothing was searched for any of its runs."""
        return any(record.tuned is None for record in self.records.values())

    @property
    def n(self) -> int:
        """Seeds measured."""
        return len(self.values)

    @cached_property
    def mean(self) -> float | None:
        return statistics.fmean(self.values.values()) if self.values else None

    @cached_property
    def sd(self) -> float | None:
        """Standard deviation over seeds; none for fewer than two."""
        return statistics.stdev(self.values.values()) if self.n > 1 else None

    @cached_property
    def half(self) -> float | None:
        """Half of the 95% interval of the mean over seeds (Student's t); none for fewer than two."""
        return None if self.sd is None else half_width(self.sd, self.n)

    @property
    def low(self) -> float | None:
        """Lower end of that interval; it is unbounded, so that of a fraction may be below 0."""
        return None if self.mean is None or self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        return None if self.mean is None or self.half is None else self.mean + self.half


@dataclass(frozen=True)
class TableRow:
    """A row of the table; `gap` says why seeds are missing, if any are."""

    label: str
    backbone: str
    variant: str
    method: str
    cells: Sequence[Cell]
    requested: int
    """Runs: parts that differ in their evaluation alone share one."""
    gap: str
    note: str
    quoted: str
    records: Sequence[Record]

    @property
    def key(self) -> RowKey:
        return self.backbone, self.variant, self.label

    @property
    def shown(self) -> str:
        """The label, with the variant if there is one."""
        return f"{self.label} · {self.variant}" if self.variant else self.label

    @property
    def measured(self) -> int:
        """Runs with a record."""
        return len(self.records)

    @property
    def seeds(self) -> int:
        """Seeds with a record in any cell."""
        return len({record.seed for record in self.records})

    @property
    def stale(self) -> str:
        """Why its numbers are out of date, if they are."""
        return next(filter(None, map(stale, self.records)), "")

    def without_runs(self, gap: str) -> Self:
        """The same row where nobody asked for it."""
        cells = [replace(cell, records={}, mean_of=()) for cell in self.cells]
        return replace(self, cells=cells, records=[], requested=0, gap=gap)
