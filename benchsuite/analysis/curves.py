"""Curves of runs over the training: as stored, their mean over seeds, and fewer points of long ones."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchsuite.analysis.tables import TableRow, TableView
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
    def told(self) -> list[float]:
        """The values that there are."""
        return [value for value in self.values if not math.isnan(value)]


def curve(record: Record, name: str) -> Curve:
    """A record's curve. What is evaluated now and then ("protocol.metric") has points only where it was."""
    pairs = zip(record.curves["step"], record.curves.get(name, ()), strict=False)
    found = [(step + 1, math.nan if value is None else value) for step, value in pairs if step is not None]
    if "." in name:
        found = [(step, value) for step, value in found if not math.isnan(value)]
    return Curve([step for step, _ in found], [value for _, value in found])


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean where every curve has a step; no value where any of them has none."""
    by_step = [dict(zip(one.steps, one.values, strict=True)) for one in curves]
    steps = [step for step in curves[0].steps if all(step in one for one in by_step)]
    return Curve(steps, [fmean(one[step] for one in by_step) for step in steps])


def span_of(curves: Sequence[Curve], steps: Sequence[float]) -> tuple[list[float], list[float]]:
    """The least and the greatest value of any curve at each of the steps."""
    by_step = [dict(zip(one.steps, one.values, strict=True)) for one in curves]
    at = [[one[step] for one in by_step if not math.isnan(one[step])] or [math.nan] for step in steps]
    return [min(values) for values in at], [max(values) for values in at]


def thinned(found: Curve, most: int = MOST) -> Curve:
    """Every so manieth point of a long curve, and its last one."""
    stride = math.ceil(len(found.steps) / most)
    if stride < 2:
        return found
    last = len(found.steps) - 1
    kept = [number for number in range(len(found.steps)) if number % stride == 0 or number == last]
    return Curve([found.steps[number] for number in kept], [found.values[number] for number in kept])


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
