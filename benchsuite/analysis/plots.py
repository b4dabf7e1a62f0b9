"""The points of a figure, from stored runs: quantities over the training, or one column against another."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchsuite.analysis.table import TableRow, TableView
from benchsuite.papers.schema import Plot
from benchsuite.records.schema import Record


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


def series(view: TableView, plot: Plot) -> list[Series]:
    """All lines of a plot; points without a value are left out."""
    make = _over_training if plot.x == "step" else _against_column
    return [one for row in view.rows for name in plot.y for one in make(view, plot, row, name) if one.x]


def _over_training(view: TableView, plot: Plot, row: TableRow, name: str) -> Iterator[Series]:
    for record in row.records:
        points = [(_x(plot, step), value) for step, value in _curve(record, name)]
        kept = [(x, y) for x, y in points if x is not None]
        yield Series(row, name, [record.seed], [x for x, _ in kept], [y for _, y in kept])


def _curve(record: Record, name: str) -> Iterator[tuple[float, float]]:
    """Steps are counted from 1: the first value is that of the first step."""
    for step, value in zip(record.curves["step"], record.curves.get(name, ()), strict=False):
        if step is not None and value is not None:
            yield step + 1, value


def _against_column(view: TableView, plot: Plot, row: TableRow, name: str) -> Iterator[Series]:
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
