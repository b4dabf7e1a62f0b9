"""The figures that a table's file asks for."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from benchsuite.analysis.curves import Curve, Series, mean_curve, series, thinned
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Column
from benchsuite.papers.schema import Plot
from benchsuite.report import links
from benchsuite.report.figures.model import STEP, Axis, Figure, Kind, Trace, distinct, slug, spoken
from benchsuite.report.numbers import seeds_of

MOST = 8
"""So many lines differ in style alone; a plot with more of them is drawn a curve at a time."""


def table_figures(view: TableView) -> list[Figure]:
    """All figures with anything to show, in the order of the table's file."""
    return distinct([figure for plot in view.table.plots for figure in _plotted(view, plot)])


def lines_of(label: str, style: int, runs: Iterable[tuple[int, Curve]]) -> list[Trace]:
    """A line a seed and their mean; of a single run, its line alone. Runs without any value have none."""
    curves = {seed: curve for seed, curve in runs if curve.known}
    thin = [(seed, thinned(curve)) for seed, curve in curves.items()]
    lines = [Trace(label, curve.steps, curve.values, "seed", style, [seed]) for seed, curve in thin]
    mean = thinned(mean_curve(list(curves.values()))) if len(lines) > 1 else None
    if mean and mean.known:
        return [*lines, Trace(label, mean.steps, mean.values, "mean", style)]
    return [replace(line, part="mean") for line in lines]


def seed_words(traces: Sequence[Trace]) -> str:
    """What thin and bold lines are."""
    thin = Counter(trace.label for trace in traces if trace.part == "seed")
    if not thin:
        return "One seed."
    counts = seeds_of(max(thin[trace.label], 1) for trace in traces)
    return f"Thin lines: single seeds; bold lines: their mean ({counts})."


def _plotted(view: TableView, plot: Plot) -> Iterator[Figure]:
    if plot.x == "step":
        yield from _curves(view, plot)
    else:
        for key in plot.y:
            yield from _against(view, plot, view.table.column(plot.x), view.table.column(key))


def _curves(view: TableView, plot: Plot) -> Iterator[Figure]:
    """Curves of one quantity, such as temperatures of different pairs, share a figure unless they are too many."""
    runs = [run for run in series(view, plot) if not all(map(math.isnan, run.y))]
    quantities: dict[str, list[str]] = {}
    for name in plot.y:
        quantities.setdefault(_quantity(name), []).append(name)
    for names in quantities.values():
        several = len({_line(run) for run in runs if run.name in names}) > MOST
        for shown in [[name] for name in names] if several else [names]:
            if drawn := [run for run in runs if run.name in shown]:
                yield _curves_of(view, plot, shown, drawn)


def _curves_of(view: TableView, plot: Plot, asked: Sequence[str], runs: Sequence[Series]) -> Figure:
    rows, parts, names = ({_line(run)[at] for run in runs} for at in range(3))
    lines: dict[tuple[object, ...], list[Series]] = {}
    for run in runs:
        lines.setdefault(_line(run), []).append(run)
    traces: list[Trace] = []
    for style, (first, *others) in enumerate(lines.values()):
        row = _row_label(view, first.row) if len(rows) > 1 or len(names) == 1 else ""
        part, name = first.part if len(parts) > 1 else "", first.name.replace("_", " ") if len(names) > 1 else ""
        label = ", ".join(filter(None, [row, part, name]))
        traces += lines_of(label, style, [(run.seeds[0], Curve(run.x, run.y)) for run in (first, *others)])
    first_name = runs[0].name
    quantity = _quantity(first_name) if len(names) > 1 else first_name
    title = plot.title if len(asked) == len(plot.y) else f"{plot.title}: {spoken(quantity)}"
    caption = seed_words(traces)
    if "." not in first_name and quantity != "lr":
        caption += " On training batches, not on held-out data."
    if plot.x_scale == "minus-inverse-log-squared":
        caption += " The training goes from left to right."
    y = Axis(spoken(quantity), _is_share(runs))
    return _figure(view, "curves", title, caption, _across(plot, STEP), y, traces)


def _against(view: TableView, plot: Plot, x: Column, y: Column) -> Iterator[Figure]:
    rows = [points for points in series(view, plot) if points.name == y.key]
    methods = list(dict.fromkeys(points.row.method for points in rows))
    crowded, several = len(rows) > MOST, any(len(points.x) > 1 for points in rows)
    traces: list[Trace] = []
    for number, points in enumerate(rows):
        label = _row_label(view, points.row)
        style = methods.index(points.row.method) if crowded else number
        if len(points.x) > 1:
            traces.append(Trace(label, points.x, points.y, "seed", style, points.seeds))
        traces.append(Trace(label, [fmean(points.x)], [fmean(points.y)], "mean", style))
    if traces:
        styles = {trace.label: trace.style for trace in traces}
        printed = list(_published(view, x, y, styles))
        traces += printed
        counts = seeds_of(len(points.x) for points in rows)
        caption = f"Small marks: single runs; large marks: their mean ({counts})." if several else "One run a row."
        caption += " Rows of one method have one mark; numbers tell them apart." if crowded else ""
        caption += " Large hollow marks: published, which may be of other data." if printed else ""
        title = plot.title if len(plot.y) == 1 else f"{plot.title}: {_column(y)}"
        across, up = (Axis(_column(column), column.unit == "percent") for column in (x, y))
        yield _figure(view, "points", title, caption, _across(plot, across), up, traces)


def _published(view: TableView, x: Column, y: Column, styles: Mapping[str, int]) -> Iterator[Trace]:
    """The paper's points, of the rows that have ours beside them."""
    places = [view.columns.index(column) for column in (x, y)]
    for row in view.rows:
        label, (across, up) = _row_label(view, row), (row.cells[place].published for place in places)
        if label in styles and across is not None and up is not None:
            yield Trace(label, [across], [up], "published", styles[label])


def _figure(view: TableView, kind: Kind, title: str, caption: str, x: Axis, y: Axis, traces: Sequence[Trace]) -> Figure:
    short = slug(title)
    return Figure(f"{links.slug(view.asked.name)}-{short}", short, kind, title, caption, x, y, traces)


def _across(plot: Plot, axis: Axis) -> Axis:
    if plot.x_scale == "minus-inverse-log-squared":
        return Axis(f"−1 / log² of the {axis.name.lower()}")
    return replace(axis, log=plot.x_scale == "log")


def _row_label(view: TableView, row: TableRow) -> str:
    """As the page has it, with the backbone where there are several."""
    return f"{view.tower(row.backbone)}: {row.shown}" if len(view.backbones) > 1 else row.shown


def _column(column: Column) -> str:
    repeated = column.label.lower() in column.group.lower()
    return column.group if repeated else ", ".join(filter(None, (column.group, column.label)))


def _line(run: Series) -> tuple[object, ...]:
    """Runs that differ in nothing but the seed have one."""
    return run.row.key, run.part, run.name


def _quantity(name: str) -> str:
    return name.rpartition(".")[2].split("_")[0]


def _is_share(runs: Sequence[Series]) -> bool:
    """Whether what is evaluated during the training is a metric, which is a fraction."""
    protocol, _, name = runs[0].name.rpartition(".")
    results = [record.results.get(protocol) for run in runs for record in run.row.records]
    return any(result is not None and name in result.metrics for result in results)
