"""What figures of a table draw from: curves over the training, and runs as points."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.table_view import TableView
from benchsuite.papers.schema import Plot
from benchsuite.records.schema import Record

MOST = 120
"""The most points of a curve that is drawn."""


@dataclass(frozen=True)
class Curve:
    """Values at steps, which are counted from 1; NaN where there is none."""

    steps: Sequence[float]
    values: Sequence[float]

    @property
    def known(self) -> list[float]:
        """The values that there are."""
        return [value for value in self.values if not math.isnan(value)]


def curve(record: Record, name: str) -> Curve:
    """A record's curve. What is evaluated now and then ("protocol.metric") has points only where it was."""
    pairs = zip(record.curves["step"], record.curves.get(name, ()), strict=False)
    points = [(step + 1, math.nan if value is None else value) for step, value in pairs if step is not None]
    if "." in name:
        points = [(step, value) for step, value in points if not math.isnan(value)]
    return Curve([step for step, _ in points], [value for _, value in points])


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean where every curve has a step; no value where any of them has none."""
    by_step = [dict(zip(curve.steps, curve.values, strict=True)) for curve in curves]
    steps = [step for step in curves[0].steps if all(step in values for values in by_step)]
    return Curve(steps, [fmean(values[step] for values in by_step) for step in steps])


def thinned(curve: Curve, most: int = MOST) -> Curve:
    """Every n-th point of a long curve, and its last one."""
    stride = math.ceil(len(curve.steps) / most)
    if stride < 2:
        return curve
    last = len(curve.steps) - 1
    numbers = [*range(0, last, stride), last]
    return Curve([curve.steps[number] for number in numbers], [curve.values[number] for number in numbers])


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


def series(view: TableView, plot: Plot) -> list[Series]:
    """All lines of a plot. A curve is NaN where it has no value; other points are skipped."""
    make = _over_training if plot.x == "step" else _against_column
    lines = (line for row in view.rows for name in plot.y for line in make(view, plot, row, name))
    return [line for line in lines if line.x]


def _over_training(view: TableView, plot: Plot, row: TableRow, name: str) -> Iterator[Series]:
    parts: dict[str, dict[str, None]] = {}
    for cell in row.cells:
        for record in cell.records.values():
            parts.setdefault(record.run_id, {})[cell.column.part] = None
    for record in {record.run_id: record for record in row.records}.values():
        whole = curve(record, name)
        points = [(_x(plot, step), value) for step, value in zip(whole.steps, whole.values, strict=True)]
        shown = [(x, y) for x, y in points if x is not None]
        part = " and ".join(parts.get(record.run_id, ()))
        yield Series(row, name, [record.seed], [x for x, _ in shown], [y for _, y in shown], part)


def _against_column(view: TableView, plot: Plot, row: TableRow, name: str) -> Iterator[Series]:
    keys = [column.key for column in view.columns]
    across, up = (row.cells[keys.index(key)].values for key in (plot.x, name))
    x = {seed: _x(plot, across[seed]) for seed in across if seed in up}
    points = [(seed, at) for seed, at in x.items() if at is not None]
    yield Series(row, name, [seed for seed, _ in points], [at for _, at in points], [up[seed] for seed, _ in points])


def _x(plot: Plot, value: float) -> float | None:
    if plot.x_scale == "minus-inverse-log-squared":
        return -1 / math.log(value) ** 2 if value > 1 else None
    return value if plot.x_scale == "linear" or value > 0 else None
