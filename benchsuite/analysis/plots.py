"""The points of a figure, from stored runs: quantities over the training, or one column against another."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchsuite.analysis.curves import curve
from benchsuite.analysis.table import TableRow, TableView
from benchsuite.papers.schema import Plot


@dataclass(frozen=True)
class Series:
    """One line of a figure, of one run; or the points of one row, a point a run."""

    row: TableRow
    name: str
    """The curve, or the column on the y axis."""
    seeds: Sequence[int]
    """One for a line over the training, one a point otherwise."""
    x: Sequence[float]
    y: Sequence[float]
    part: str = ""
    """Of a table whose columns come from different runs: which of them a line is of; several, if they share it."""


def series(view: TableView, plot: Plot, gaps: bool = False) -> list[Series]:
    """All lines of a plot, none of a histogram. Points without a value are left out; with `gaps` they are NaN."""
    if plot.kind == "histogram":
        return []
    make = _over_training if plot.x == "step" else _against_column
    return [one for row in view.rows for name in plot.y for one in make(view, plot, row, name, gaps) if one.x]


def _over_training(view: TableView, plot: Plot, row: TableRow, name: str, gaps: bool) -> Iterator[Series]:
    parts: dict[str, dict[str, None]] = {}
    for cell in row.cells:
        for record in cell.records.values():
            parts.setdefault(record.run_id, {})[cell.column.part] = None
    for record in {record.run_id: record for record in row.records}.values():
        found = curve(record, name)
        points = [(_x(plot, step), value) for step, value in zip(found.steps, found.values, strict=True)]
        kept = [(x, y) for x, y in points if x is not None and (gaps or not math.isnan(y))]
        part = " and ".join(parts.get(record.run_id, ()))
        yield Series(row, name, [record.seed], [x for x, _ in kept], [y for _, y in kept], part)


def _against_column(view: TableView, plot: Plot, row: TableRow, name: str, gaps: bool) -> Iterator[Series]:
    keys = [column.key for column in view.columns]
    left, right = (row.cells[keys.index(key)] for key in (plot.x, name))
    seeds = [seed for seed in left.values if seed in right.values]
    x = [_x(plot, left.values[seed]) for seed in seeds]
    kept = [(seed, at) for seed, at in zip(seeds, x, strict=True) if at is not None]
    yield Series(row, name, [seed for seed, _ in kept], [at for _, at in kept], [right.values[s] for s, _ in kept])


def _x(plot: Plot, value: float) -> float | None:
    if plot.x_scale == "minus-inverse-log-squared":
        return -1 / math.log(value) ** 2 if value > 1 else None
    return value if plot.x_scale == "linear" or value > 0 else None
