"""The figures that a table's file asks for."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from benchsuite.analysis.labels import temperatures
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.table_view import TableView
from benchsuite.grouping import by_key
from benchsuite.papers import Column
from benchsuite.papers.schema import Plot
from benchsuite.records.schema import Record
from benchsuite.records.trials import Trial, TrialsFile, best
from benchsuite.report import links
from benchsuite.report.figures.model import STEP, Axis, Figure, Kind, Part, Trace, distinct, slug, spoken
from benchsuite.report.numbers import seeds_of

POINTS = 120
"""The most points of a curve that is drawn."""
Curve = list[tuple[float, float]]
"""Values at steps, which are counted from 1; NaN where there is none."""


def curve(record: Record, name: str) -> Curve:
    """A record's curve. What is evaluated now and then ("protocol.metric") has points only where it was."""
    pairs = zip(record.curves["step"], record.curves.get(name, ()), strict=False)
    points = [(step + 1, math.nan if value is None else value) for step, value in pairs if step is not None]
    return [(step, value) for step, value in points if not ("." in name and math.isnan(value))]


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean where every curve has a step; no value where any of them has none."""
    by_step = list(map(dict, curves))
    steps = [step for step, _ in curves[0] if all(step in values for values in by_step)]
    return [(step, fmean(values[step] for values in by_step)) for step in steps]


def thinned(curve: Curve) -> Curve:
    """Every n-th point of a long curve, and its last one."""
    stride = math.ceil(len(curve) / POINTS)
    return curve if stride < 2 else [*curve[:-1:stride], curve[-1]]


@dataclass(frozen=True)
class RunCurve:
    """A curve of one run, as a plot has it."""

    row: TableRow
    name: str
    seed: int
    points: Curve
    part: str
    """Of a table whose columns come from different runs: which of them it is of; several, if they share it."""


def curves(plot: Plot, row: TableRow) -> Iterator[RunCurve]:
    """Those of a row's runs that have values."""
    parts: dict[str, dict[str, None]] = {}
    for cell in row.cells:
        for record in cell.records.values():
            parts.setdefault(record.run_id, {})[cell.column.part] = None
    for name in plot.y:
        for record in {record.run_id: record for record in row.records}.values():
            points = [(x, y) for step, y in curve(record, name) if (x := _x(plot, step)) is not None]
            if not all(math.isnan(y) for _, y in points):
                yield RunCurve(row, name, record.seed, points, " and ".join(parts.get(record.run_id, ())))


def _x(plot: Plot, value: float) -> float | None:
    if plot.x_scale == "minus-inverse-log-squared":
        return -1 / math.log(value) ** 2 if value > 1 else None
    return value if plot.x_scale == "linear" or value > 0 else None


MOST = 8
"""So many lines differ in style alone; a plot with more of them is drawn a curve at a time."""


def table_figures(view: TableView) -> list[Figure]:
    """All figures with anything to show, in the order of the table's file."""
    figures: list[Figure] = []
    for plot in view.table.plots:
        if plot.x == "step":
            figures += _curves(view, plot)
        else:
            for key in plot.y:
                figures += _against(view, plot, view.table.column(plot.x), view.table.column(key))
    return distinct(figures)


def lines_of(label: str, style: int, curves: Mapping[int, Curve]) -> list[Trace]:
    """Each seed's and their mean; of a single run, its line alone."""
    mean = thinned(mean_curve(list(curves.values()))) if len(curves) > 1 else []
    has_mean = not all(math.isnan(value) for _, value in mean)

    def trace(points: Curve, part: Part, seeds: Sequence[int] = ()) -> Trace:
        return Trace(label, [step for step, _ in points], [value for _, value in points], part, style, seeds)

    lines = [trace(thinned(curve), "seed" if has_mean else "mean", [seed]) for seed, curve in curves.items()]
    return [*lines, trace(mean, "mean")] if has_mean else lines


def seed_words(traces: Sequence[Trace]) -> str:
    """What lines and areas are."""
    seeds = Counter(trace.label for trace in traces if trace.part == "seed")
    if not seeds:
        return "One seed."
    counts = seeds_of(max(seeds[trace.label], 1) for trace in traces)
    return f"Lines: the mean; shaded: from the lowest to the highest seed ({counts})."


def _curves(view: TableView, plot: Plot) -> Iterator[Figure]:
    """Curves of one quantity, such as temperatures of different pairs, share a figure unless they are too many."""
    runs = [run for row in view.rows for run in curves(plot, row)]
    for names in by_key((_quantity(name), name) for name in plot.y).values():
        several = len({_line(run) for run in runs if run.name in names}) > MOST
        for shown in [[name] for name in names] if several else [names]:
            if drawn := [run for run in runs if run.name in shown]:
                yield _curves_of(view, plot, shown, drawn)


def _curves_of(view: TableView, plot: Plot, asked: Sequence[str], runs: Sequence[RunCurve]) -> Figure:
    rows, parts, names = ({_line(run)[at] for run in runs} for at in range(3))
    lines = by_key((_line(run), run) for run in runs)
    traces: list[Trace] = []
    for style, (first, *others) in enumerate(lines.values()):
        row = _row_label(view, first.row) if len(rows) > 1 or len(names) == 1 else ""
        part, name = first.part if len(parts) > 1 else "", first.name.replace("_", " ") if len(names) > 1 else ""
        label = ", ".join(filter(None, [row, part, name]))
        traces += lines_of(label, style, {run.seed: run.points for run in (first, *others)})
    first_name = runs[0].name
    quantity = _quantity(first_name) if len(names) > 1 else first_name
    title = plot.title if len(asked) == len(plot.y) else f"{plot.title}: {spoken(quantity)}"
    caption = seed_words(traces)
    if "." not in first_name and quantity != "lr":
        caption += " On training batches, not on held-out data."
    if plot.x_scale == "minus-inverse-log-squared":
        caption += " The training goes from left to right."
    protocol, _, metric = first_name.rpartition(".")
    results = [record.results.get(protocol) for run in runs for record in run.row.records]
    is_share = any(result is not None and metric in result.metrics for result in results)
    y = Axis(spoken(quantity), is_share)
    return _figure(view, "curves", title, caption, _across(plot, STEP), y, traces)


def _against(view: TableView, plot: Plot, x: Column, y: Column) -> Iterator[Figure]:
    places = [view.columns.index(column) for column in (x, y)]
    rows: list[tuple[TableRow, list[tuple[int, float, float]]]] = []
    for row in view.rows:
        xs, ys = (row.cells[place].values for place in places)
        both = ((seed, _x(plot, value)) for seed, value in xs.items() if seed in ys)
        points = [(seed, at, ys[seed]) for seed, at in both if at is not None]
        rows += [(row, points)] if points else []
    methods = list(dict.fromkeys(row.method for row, _ in rows))
    crowded, several = len(rows) > MOST, any(len(points) > 1 for _, points in rows)
    traces: list[Trace] = []
    for number, (row, points) in enumerate(rows):
        label, (seeds, across, up) = _row_label(view, row), map(list, zip(*points, strict=True))
        style = methods.index(row.method) if crowded else number
        if len(points) > 1:
            traces.append(Trace(label, across, up, "seed", style, seeds))
        traces.append(Trace(label, [fmean(across)], [fmean(up)], "mean", style))
    if traces:
        styles = {trace.label: trace.style for trace in traces}
        printed = list(_published(view, x, y, styles))
        traces += printed
        counts = seeds_of(len(points) for _, points in rows)
        caption = f"Small marks: single runs; large marks: their mean ({counts})." if several else "One run a row."
        caption += " Rows of one method have one mark; numbers tell them apart." if crowded else ""
        caption += " Large hollow marks: published, which may be of other data." if printed else ""
        title = plot.title if len(plot.y) == 1 else f"{plot.title}: {_column(y)}"
        axes = [Axis(_column(column), column.unit == "percent") for column in (x, y)]
        yield _figure(view, "points", title, caption, _across(plot, axes[0]), axes[1], traces)


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


def _line(run: RunCurve) -> tuple[object, ...]:
    """Runs that differ in nothing but the seed have one."""
    return run.row.key, run.part, run.name


def _quantity(name: str) -> str:
    return name.rpartition(".")[2].split("_")[0]


def sensitivity_figures(method: str, files: Mapping[str, TrialsFile], views: Sequence[TableView]) -> list[Figure]:
    """One for each recipe and temperature under which the method was tuned; towers are its marks."""
    shown = {view.setting.name: view for view in views}
    return [figure for name, file in sorted(files.items()) for figure in _of_recipe(method, file, shown.get(name))]


def _of_recipe(method: str, file: TrialsFile, view: TableView | None) -> Iterator[Figure]:
    tuned = [one for one in file.by_method.get(method, ()) if (one.regime, one.method.longer) == ("tuned", 1)]
    searches = by_key((trial.subject, trial) for trial in tuned).values()
    chosen = [trial for found in searches if (trial := best(found))]
    best_of_all = {id(trial) for trial in chosen}
    for name in temperatures(chosen[0].method) if chosen else ():
        trials = [
            trial for trial in tuned if trial.score is not None and name not in trial.fixed and _value(trial, name) > 0
        ]
        values = sorted(_value(trial, name) for trial in chosen if name not in trial.fixed)
        if len({_value(trial, name) for trial in trials}) < 2:
            continue
        traces = []
        for style, label in enumerate(dict.fromkeys(trial.label for trial in trials)):
            tower = view.stand_in(label) if view else label
            own = [trial for trial in trials if trial.label == label]
            traces += [_trace(tower, "trial", style, name, own)]
            traces += [_trace(tower, "best", style, name, [trial for trial in own if id(trial) in best_of_all])]
        title = f"{spoken(name)} against the score on {file.recipe}"
        found = f"{name} {values[0]:.3g} to {values[-1]:.3g}, median {median(values):.3g}"
        caption = (
            f"Small: a trial, by {file.rule['measure']}; large: the best of each of {len(values)} searches that drew "
            f"it, with {found}. Trials differ in all other hyper-parameters and the learning rate, too."
        )
        axes = Axis(name, log=True), Axis("Score", percent=True)
        yield Figure(f"{method}-{slug(title)}", slug(title), "points", title, caption, *axes, traces)


def _trace(tower: str, part: Part, style: int, name: str, trials: Sequence[Trial]) -> Trace:
    values, scores = [_value(trial, name) for trial in trials], [trial.score or 0.0 for trial in trials]
    return Trace(tower, values, scores, part, style, [trial.replicate for trial in trials])


def _value(trial: Trial, name: str) -> float:
    return float(trial.method.hyperparameters[name])
