"""Figures drawn by matplotlib, a function a kind: for papers: `savefig` saves them. Most figures of pages are sketched.

Series differ in hue, in dash and in mark: for the first eight, each of the three alone tells them apart. From the ninth
on marks are hollow, and numbers stand beside the points and in the legend.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text
from matplotlib.transforms import offset_copy

from benchsuite.report.figures.frame import Layout, arrange, dash_of, hue_of, marks_of, settings
from benchsuite.report.figures.lines import forest
from benchsuite.report.figures.model import Figure, Kind, Trace, labels
from benchsuite.report.figures.panels import sensitivity, tuning
from benchsuite.report.figures.room import make_room
from benchsuite.report.figures.style import BEHIND, HUES, INK, LETTERS, LINE, QUIET, RULE, SIDE
from benchsuite.report.figures.words import fitted

__all__ = ["draw", "settings"]


def draw(figure: Figure) -> Drawing:
    """The figure as one of matplotlib's, as high as it needs to be."""
    with settings():
        drawing = Drawing()
        axes = drawing.add_axes((0, 0, 1, 1))
        axes.patch.set_visible(False)
        if figure.x.log:
            axes.set_xscale("log")
        layout = KINDS[figure.kind](figure, axes)
        arrange(drawing, axes, figure, layout)
        make_room(axes, layout.numbers)
        return drawing


def _curves(figure: Figure, axes: Axes) -> Layout:
    means = [trace for trace in figure.series if trace.part == "mean"]
    handles: list[Artist] = []
    for trace in figure.series:
        if trace.low:
            axes.fill_between(trace.x, trace.low, trace.high, color=hue_of(trace.style), alpha=0.2, linewidth=0)
        if trace.part == "seed":
            look = {**marks_of(trace.style, 1), "linestyle": "-", "linewidth": 0.75}
            axes.plot(trace.x, trace.y, **look, markevery=_alone(trace))
    for number, trace in enumerate(means):
        apart = max(1, len(trace.x) // 5)
        first = apart * number // len(means) + apart // 2 if len(trace.x) > 1 else 0
        marked = range(first, len(trace.x), apart) if len(means) > 1 else ()
        look = {**marks_of(trace.style, 7), "linestyle": dash_of(trace.style), "linewidth": 2.2}
        handles += axes.plot(trace.x, trace.y, **look, markevery=sorted({*marked, *_alone(trace)}))
    numbers = _numbers(means)
    _label(axes, means, numbers)
    right = SIDE + BEHIND[-1][0] if numbers else SIDE
    return Layout(handles if len(means) > 1 else [], _names(means, numbers), right=right)


def _points(figure: Figure, axes: Axes) -> Layout:
    means = [trace for trace in figure.series if trace.part == "mean"]
    for trace in figure.series:
        if trace.part == "seed":
            axes.plot(trace.x, trace.y, **marks_of(trace.style, 4.5, hollow=True))
    handles = [line for trace in means for line in axes.plot(trace.x, trace.y, **marks_of(trace.style, 8))]
    numbers = _numbers(means)
    texts = _on_points(axes, means, numbers)
    number_of = dict(zip((trace.label for trace in means), numbers, strict=False))
    for trace in (trace for trace in figure.series if trace.part == "published"):
        axes.plot(trace.x, trace.y, **marks_of(trace.style, 9, hollow=True))
        texts += _on_points(axes, [trace], [number_of[trace.label]] if numbers else [])
    return Layout(handles, _names(means, numbers), numbers=texts)


def _cost(figure: Figure, axes: Axes) -> Layout:
    handles = {}
    for part, look in (("mean", {**marks_of(1, 7, hollow=True), "color": QUIET}), ("front", marks_of(0, 8))):
        traces = sorted((trace for trace in figure.series if trace.part == part), key=lambda trace: trace.points)
        x, y = [trace.x[0] for trace in traces], [trace.y[0] for trace in traces]
        bounded = [trace for trace in traces if trace.low and np.isfinite([trace.low[0], trace.high[0]]).all()]
        low, high = [trace.low[0] for trace in bounded], [trace.high[0] for trace in bounded]
        axes.vlines([trace.x[0] for trace in bounded], low, high, color=look["color"], linewidth=1.2, alpha=0.5)
        if part == "front":
            dearest = max(trace.x[0] for trace in figure.series)
            axes.step([*x, dearest], [*y, y[-1]], color=look["color"], linewidth=1.5, where="post")
        (handles[part],) = axes.plot(x, y, **look)
    order = sorted(figure.series, key=lambda trace: trace.style)
    numbers = [trace.style + 1 for trace in order]
    names = {"on the Pareto front": handles["front"], "not on it": handles["mean"]}
    return Layout(
        list(names.values()), list(names), listed=_names(order, numbers), numbers=_on_points(axes, order, numbers)
    )


def _histogram(figure: Figure, axes: Axes) -> Layout:
    panels = list(dict.fromkeys(trace.panel for trace in figure.series))
    step = LINE + max(38, 108 - 6 * len(panels))
    handles: dict[str, Artist] = {}
    for trace in figure.series:
        floor = step * (panels.index(trace.panel) + 1)
        peak = max(max(other.y) for other in figure.series if other.panel == trace.panel)
        held = np.flatnonzero(trace.y)
        if len(held):
            shares = np.asarray(trace.y)[held[0] : held[-1] + 1]
            edges = [*trace.x, 1.0][held[0] : held[-1] + 2]
            hue = hue_of(trace.style)
            handles[trace.label] = axes.stairs(
                floor - shares / peak * (step - LINE - 6), edges, baseline=floor, fill=True, linewidth=1.5,
                linestyle=dash_of(trace.style), edgecolor=hue, facecolor="none" if trace.style else to_rgba(hue, 0.3),
            )  # fmt: skip
    axes.set_xlim(-1, 1)
    _stack(axes, panels, step, rules=range(1, len(panels)))
    return Layout(list(handles.values()), list(handles), height=step * len(panels), left=SIDE)


def _rows(figure: Figure, axes: Axes) -> Layout:
    rows, step = labels(figure.series), 2 * LINE
    several = any(trace.part == "seed" for trace in figure.series)
    looks = {
        ("seed", "single run"): marks_of(0, 5, hollow=True),
        ("mean", "mean of our runs" if several else "our run"): marks_of(0, 9),
        ("published", "published"): {**marks_of(6, 8), "color": INK, "markerfacecolor": INK},
    }
    handles: dict[str, Artist] = {}
    for (part, name), look in looks.items():
        traces = [trace for trace in figure.series if trace.part == part]
        if traces:
            y = [step * rows.index(trace.label) + 26 for trace in traces for _ in trace.x]
            (handles[name],) = axes.plot([x for trace in traces for x in trace.x], y, **look)
    axes.grid(axis="x")
    _stack(axes, rows, step, rules=range(1, len(rows)))
    shown = handles if len(handles) > 1 else {}
    return Layout(list(shown.values()), list(shown), height=step * len(rows), left=SIDE)


KINDS: Mapping[Kind, Callable[[Figure, Axes], Layout]] = {
    "curves": _curves,
    "points": _points,
    "cost": _cost,
    "histogram": _histogram,
    "rows": _rows,
    "tuning": tuning,
    "sensitivity": sensitivity,
    "forest": forest,
}


def _alone(trace: Trace) -> list[int]:
    """Points between gaps, of which a line shows nothing."""
    there = np.isfinite([np.nan, *trace.y, np.nan])
    return np.flatnonzero(there[1:-1] & ~there[:-2] & ~there[2:]).tolist()


def _numbers(traces: Sequence[Trace]) -> list[int]:
    """For series that are too many for hues, dashes and marks."""
    return list(range(1, len(traces) + 1)) if len(traces) > len(HUES) else []


def _names(traces: Sequence[Trace], numbers: Sequence[int]) -> list[str]:
    names = [trace.label for trace in traces]
    return [f"{number} {name}" for number, name in zip(numbers, names, strict=True)] if numbers else names


def _on_points(axes: Axes, traces: Sequence[Trace], numbers: Sequence[int]) -> list[Text]:
    ends = [(trace.points[-1], number) for trace, number in zip(traces, numbers, strict=False)]
    return [axes.text(x, y, str(number), ha="center", va="center", size=11) for (x, y), number in ends]


def _label(axes: Axes, traces: Sequence[Trace], numbers: Sequence[int]) -> None:
    """Numbers behind the last points; of neighbours in y each at another place, so that few numbers meet."""
    moved = [offset_copy(axes.transData, axes.get_figure(root=True), x, y, units="points") for x, y in BEHIND]
    ends = [(trace.points[-1], number) for trace, number in zip(traces, numbers, strict=False)]
    for order, ((x, y), number) in enumerate(sorted(ends, key=lambda end: end[0][1])):
        axes.text(x, y, str(number), transform=moved[order % len(moved)], ha="center", va="center", size=11)


def _stack(axes: Axes, names: Sequence[str], step: float, rules: Sequence[int]) -> None:
    """Rows below each other, y in pixels from the top; each has its name above its data."""
    across = axes.get_yaxis_transform()
    axes.set_ylim(step * len(names), 0)
    axes.yaxis.set_visible(False)
    axes.hlines([step * number for number in rules], 0, 1, color=RULE, linewidth=1, transform=across)
    for number, name in enumerate(names):
        axes.text(0, step * number + 13, fitted(name, LETTERS), transform=across)
