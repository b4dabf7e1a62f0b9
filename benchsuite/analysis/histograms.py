"""How similar positive and negative pairs are: the histograms beside the records, over the seeds of each row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.errors import RecordError
from benchsuite.papers.schema import Plot
from benchsuite.records.schema import Record

SIDES = ("positives", "negatives")
MEANS = {"positive_mean", "negative_mean"}
"""What a protocol measures if it looks at pairs of both modalities."""
Ranks = Callable[[Record], Mapping[str, NDArray[Any]]]
"""Reads the arrays that lie beside a record."""


@dataclass(frozen=True)
class Source:
    """Which histograms: of a protocol, in the runs of a part of the table."""

    protocol: str
    part: str


@dataclass(frozen=True)
class Similarities:
    """Shares of a row's pairs by their cosine, in equal bins of [-1, 1]; the counts of all its seeds together."""

    row: TableRow
    seeds: Sequence[int]
    edges: NDArray[np.float64]
    """One more than there are bins."""
    shares: Mapping[str, NDArray[np.float64]]
    """By side, `positives` and `negatives`; each sums to 1."""

    def mean(self, side: str) -> float:
        """The mean cosine, to within a bin."""
        return float((self.edges[:-1] + self.edges[1:]) / 2 @ self.shares[side])

    @property
    def overlap(self) -> float:
        """The share that both sides have in common: 1 if they cannot be told apart, 0 if no bin holds both."""
        return float(np.minimum(self.shares["positives"], self.shares["negatives"]).sum())


def sources(view: TableView, plot: Plot | None = None) -> list[Source]:
    """The histograms that a plot asks for by its columns; without a plot, all that stand behind any column."""
    cells = [cell for row in view.rows for cell in row.cells if plot is None or cell.column.key in plot.y]
    return list(dict.fromkeys(_source(cell) for cell in cells if any(_of_pairs(cell))))


def similarities(view: TableView, source: Source, ranks: Ranks) -> list[Similarities]:
    """By row; rows without such runs are left out."""
    found = []
    for row in view.rows:
        cells = [cell for cell in row.cells if _source(cell) == source]
        records = {record.run_id: record for cell in cells for record in _of_pairs(cell)}
        read = [(record, _counts(source.protocol, ranks(record))) for record in records.values()]
        counted = [(record, counts) for record, counts in read if len(counts) == len(SIDES)]
        if counted:
            found.append(_together(row, counted))
    return found


def _together(row: TableRow, counted: Sequence[tuple[Record, Mapping[str, NDArray[Any]]]]) -> Similarities:
    bins = {len(counts[side]): record for record, counts in counted for side in SIDES}
    if len(bins) > 1:
        runs = ", ".join(f"{n} in run {record.run_id}" for n, record in bins.items())
        raise RecordError(f'row "{row.label}": its histograms have different numbers of bins ({runs}).')
    totals = {side: np.sum([counts[side] for _, counts in counted], axis=0) for side in SIDES}
    shares = {side: total / max(total.sum(), 1) for side, total in totals.items()}
    return Similarities(row, [record.seed for record, _ in counted], np.linspace(-1, 1, next(iter(bins)) + 1), shares)


def _source(cell: Cell) -> Source:
    return Source((cell.measure or "").rpartition(".")[0], cell.column.part)


def _of_pairs(cell: Cell) -> list[Record]:
    """The runs whose protocol behind this cell looked at pairs of both modalities."""
    protocol = _source(cell).protocol
    results = [(record, record.results.get(protocol)) for record in cell.records.values()]
    return [one for one, result in results if result and result.task == "geometry" and result.measures.keys() >= MEANS]


def _counts(protocol: str, kept: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {side: kept[f"{protocol}.{side}"] for side in SIDES if f"{protocol}.{side}" in kept}
