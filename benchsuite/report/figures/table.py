"""The figures of a table: its plots, what its histograms show, and the modality gap of its rows."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from benchsuite.analysis.curves import (
    Curve,
    Ranks,
    Series,
    Similarities,
    Source,
    mean_curve,
    series,
    similarities,
    sources,
    thinned,
)
from benchsuite.analysis.tables import TableRow, TableView
from benchsuite.papers import Column
from benchsuite.papers.schema import Plot
from benchsuite.report.figures.model import STEP, Axis, Figure, Kind, Trace, distinct, slug, spoken, unique
from benchsuite.report.figures.words import seeds_of

SIDES = {"positives": "Positive pairs", "negatives": "Negative pairs"}
MOST = 8
"""Lines told apart by style alone; plots with more are drawn a curve at a time."""


def table_figures(view: TableView, ranks: Ranks) -> list[Figure]:
    """All figures that have anything to show, in the order of the table's file; `ranks` reads what lies beside a
    record."""
    found = [one for plot in view.table.plots for one in _plotted(view, plot, ranks)]
    drawn = {source for plot in view.table.plots if plot.kind == "histogram" for source in sources(view, plot)}
    for source in sources(view):
        if source not in drawn:
            found += _histogram(view, source, "Similarities of positive and of negative pairs", ranks)
    found += [one for column in view.columns for one in _gaps(view, column)]
    return distinct(found)


def _plotted(view: TableView, plot: Plot, ranks: Ranks) -> Iterator[Figure]:
    if plot.kind == "histogram":
        for source in sources(view, plot):
            yield from _histogram(view, source, plot.title, ranks)
    elif plot.x == "step":
        yield from _curves(view, plot)
    else:
        for key in plot.y:
            yield from _against(view, plot, view.table.column(plot.x), view.table.column(key))


def _curves(view: TableView, plot: Plot) -> Iterator[Figure]:
    """Curves of one quantity in one figure, as far as their lines can be told apart."""
    lines = series(view, plot, gaps=True)
    for names in _quantities(plot.y):
        mine = [one for one in lines if one.name in names]
        several = len({_line(one) for one in mine}) > MOST
        for some in [[name] for name in names] if several else [names]:
            if drawn := [one for one in mine if one.name in some and not all(map(math.isnan, one.y))]:
                yield _one_of_curves(view, plot, some, drawn)


def _one_of_curves(view: TableView, plot: Plot, names: Sequence[str], lines: Sequence[Series]) -> Figure:
    shown = list(dict.fromkeys(one.name for one in lines))
    groups: dict[tuple[object, ...], list[Series]] = {}
    for one in lines:
        groups.setdefault(_line(one), []).append(one)
    traces: list[Trace] = []
    rows, parts = {one.row.key for one in lines}, {one.part for one in lines}
    for style, some in enumerate(groups.values()):
        first = some[0]
        row = _row_label(view, first.row) if len(rows) > 1 or len(shown) == 1 else ""
        part, name = first.part if len(parts) > 1 else "", first.name.replace("_", " ") if len(shown) > 1 else ""
        label = ", ".join(filter(None, [row, part, name]))
        traces += lines_of(label, style, [(one.seeds[0], Curve(one.x, one.y)) for one in some])
    quantity = _quantity(shown[0]) if len(shown) > 1 else shown[0]
    title = plot.title if len(names) == len(plot.y) else f"{plot.title}: {spoken(quantity)}"
    caption = seed_words(traces)
    if "." not in shown[0] and quantity != "lr":
        caption += " On training batches, not on held-out data."
    if plot.x_scale == "minus-inverse-log-squared":
        caption += " The training goes from left to right."
    return _figure(
        view, "curves", title, caption, _across(plot, STEP), Axis(spoken(quantity), _is_share(lines)), traces
    )


def lines_of(label: str, style: int, runs: Sequence[tuple[int, Curve]]) -> list[Trace]:
    """A line a seed and their mean; of a single run, its line alone. Nothing if there is no value."""
    told = [(seed, found) for seed, found in runs if found.known]
    if not told:
        return []
    mean = thinned(mean_curve([found for _, found in told]))
    if len(told) == 1 or not mean.known:
        return [
            Trace(label, found.steps, found.values, "mean", style, [seed])
            for seed, found in ((seed, thinned(found)) for seed, found in told)
        ]
    thin = [(seed, thinned(found)) for seed, found in told]
    lines = [Trace(label, found.steps, found.values, "seed", style, [seed]) for seed, found in thin]
    return [*lines, Trace(label, mean.steps, mean.values, "mean", style)]


def seed_words(traces: Sequence[Trace]) -> str:
    """What thin and bold lines are."""
    thin: dict[str, int] = {}
    for one in traces:
        thin[one.label] = thin.get(one.label, 0) + (one.part == "seed")
    if not any(thin.values()):
        return "One seed."
    return f"Thin lines: single seeds; bold lines: their mean ({seeds_of(max(n, 1) for n in thin.values())})."


def _against(view: TableView, plot: Plot, x: Column, y: Column) -> Iterator[Figure]:
    found = [one for one in series(view, plot) if one.name == y.key]
    methods = list(dict.fromkeys(one.row.method for one in found))
    traces: list[Trace] = []
    for number, one in enumerate(found):
        label = _row_label(view, one.row)
        style = number if len(found) <= MOST else methods.index(one.row.method)
        if len(one.x) > 1:
            traces.append(Trace(label, one.x, one.y, "seed", style, one.seeds))
        traces.append(Trace(label, [fmean(one.x)], [fmean(one.y)], "mean", style))
    if traces:
        counts = seeds_of(len(one.x) for one in found)
        many = any(len(one.x) > 1 for one in found)
        caption = f"Small marks: single runs; large marks: their mean ({counts})." if many else "One run a row."
        if len(found) > MOST:
            caption += " Rows of one method have one mark; numbers tell them apart."
        title = plot.title if len(plot.y) == 1 else f"{plot.title}: {_column(y)}"
        across, up = (Axis(_column(column), column.unit == "percent") for column in (x, y))
        yield _figure(view, "points", title, caption, _across(plot, across), up, traces)


def _histogram(view: TableView, source: Source, title: str, ranks: Ranks) -> Iterator[Figure]:
    found = similarities(view, source, ranks)
    traces = [
        Trace(label, one.edges[:-1].tolist(), one.shares[side].tolist(), "mean", style, panel=_row_label(view, one.row))
        for one in found
        for style, (side, label) in enumerate(SIDES.items())
    ]
    if found:
        yield _figure(
            view, "histogram", f"{title}{f' ({source.part})' if source.part else ''}", _histogram_words(found),
            Axis("Cosine of image and text"), Axis("Share of the pairs", percent=True), traces,
        )  # fmt: skip


def _histogram_words(found: Sequence[Similarities]) -> str:
    bins = len(found[0].edges) - 1
    return (
        f"Shares of held-out pairs in {bins} bins of [−1, 1], {seeds_of(len(one.seeds) for one in found)} a panel, "
        "whose pairs are counted together; each panel has a height of its own. The data name a bin by its lower edge."
    )


def _gaps(view: TableView, column: Column) -> Iterator[Figure]:
    """The modality gap of each row, where a column measures it and there are rows to compare."""
    number = view.columns.index(column)
    measured = [(row, row.cells[number]) for row in view.rows if (row.cells[number].measure or "").endswith(".gap")]
    cells = [(_row_label(view, row), cell) for row, cell in measured if cell.values]
    if len(cells) < 2:
        return
    traces: list[Trace] = []
    for place, (label, cell) in enumerate(cells, 1):
        values = list(cell.values.values())
        if len(values) > 1:
            traces.append(Trace(label, values, [place] * len(values), "seed", seeds=list(cell.values)))
        traces.append(Trace(label, [fmean(values)], [place], "mean"))
        if cell.published is not None:
            traces.append(Trace(label, [cell.published], [place], "published"))
    caption = (
        f"A line a row, {seeds_of(cell.n for _, cell in cells)} each; the distance of the modalities' centroids on "
    )
    caption += "held-out pairs. Published numbers, where there are any, are of other data and other towers."
    yield _figure(view, "rows", f"{_column(column)} by row", caption, Axis(_column(column)), Axis("Row"), traces)


def _figure(view: TableView, kind: Kind, title: str, caption: str, x: Axis, y: Axis, traces: Sequence[Trace]) -> Figure:
    short = slug(title)
    return Figure(f"{unique(view.request.name)}-{short}", short, kind, title, caption, x, y, traces)


def _across(plot: Plot, axis: Axis) -> Axis:
    """The x axis on the plot's scale."""
    if plot.x_scale == "minus-inverse-log-squared":
        return Axis(f"−1 / log² of the {axis.name.lower()}")
    return replace(axis, log=plot.x_scale == "log")


def _row_label(view: TableView, row: TableRow) -> str:
    """As the page has it, with the backbone where there are several."""
    return f"{row.backbone}: {row.shown}" if len(view.backbones) > 1 else row.shown


def _column(column: Column) -> str:
    said = column.label.lower() in column.group.lower()
    return column.group if said else ", ".join(filter(None, (column.group, column.label)))


def _line(one: Series) -> tuple[object, ...]:
    return one.row.key, one.part, one.name


def _quantities(names: Sequence[str]) -> list[list[str]]:
    """Curves that measure the same thing, such as temperatures of different pairs."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_quantity(name), []).append(name)
    return list(found.values())


def _quantity(name: str) -> str:
    return name.rpartition(".")[2].split("_")[0]


def _is_share(lines: Sequence[Series]) -> bool:
    """Whether what is evaluated during the training is a metric, which is a fraction."""
    protocol, _, name = lines[0].name.rpartition(".")
    results = [record.results.get(protocol) for one in lines for record in one.row.records]
    return any(result is not None and name in result.metrics for result in results)
