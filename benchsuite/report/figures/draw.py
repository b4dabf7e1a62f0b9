"""Figures drawn by matplotlib, a function a kind: `svg` puts them on a page, and `savefig` saves them as PDF or PNG.

Series differ in hue, in dash and in mark: for the first eight, each of the three alone tells them apart. From the ninth
on marks are hollow, and numbers stand beside the points and in the legend.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rc_context, rcParamsDefault
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as Ruler
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text
from matplotlib.ticker import (
    EngFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
    ScalarFormatter,
    StrMethodFormatter,
)
from matplotlib.transforms import offset_copy

from benchsuite.report.figures.model import Axis, Figure, Kind, Trace, labels
from benchsuite.report.figures.room import make_room
from benchsuite.report.figures.words import fitted

HUES = ("#108ac3", "#620d1e", "#7f8e12", "#6731b6", "#016654", "#d1608f", "#a77f56", "#222e5a")
INK, QUIET, RULE, PAPER = "#1b1f24", "#57606a", "#d0d7de", "#ffffff"
COLOURS = {hue: f"--series-{number}" for number, hue in enumerate(HUES, 1)}
COLOURS |= {INK: "--ink", QUIET: "--quiet", RULE: "--line", PAPER: "--paper"}
"""Those of the light theme, and their names in the style sheets of pages."""
DASHES = ((), (6, 3), (1.5, 2.5), (9, 3, 2, 3), (4, 2), (12, 4), (9, 3, 2, 3, 2, 3), (3, 5))
MARKS = "os^DPvX*"
WIDTH = 400
"""In 1/72 inch, as all lengths: on a telephone, where this becomes 348 pixels, ticks are still 9 pixels high."""
SIDE, LEFT, TOP, HEIGHT, FOOT = 16, 48, 28, 220, 40
"""Room at the sides, left of an upright axis, above the data, for the data, and below them for the axis."""
LINE, LETTERS = 18, 60
"""A line of text: its height, and how many letters fit into the whole width."""
BEHIND = ((13, 0), (29, 0), (45, 0))
"""Where numbers stand, seen from the ends of lines."""
SAME = 1e-6
"""Values that differ by less, relative to their size, are a level line and not noise as high as the figure."""
SETTINGS: dict[Any, Any] = {
    **{name: value for name, value in rcParamsDefault.items() if not name.startswith("backend")},
    "axes.axisbelow": True, "axes.edgecolor": QUIET, "axes.grid": True, "axes.grid.axis": "y", "axes.labelcolor": INK,
    "axes.labelsize": 12, "axes.linewidth": 1, "axes.spines.left": False, "axes.spines.right": False,
    "axes.spines.top": False, "axes.xmargin": 0.02, "axes.ymargin": 0.05, "figure.dpi": 72, "figure.frameon": False,
    "font.size": 12, "grid.color": RULE, "legend.borderaxespad": 0, "legend.borderpad": 0, "legend.columnspacing": 1,
    "legend.fontsize": 12, "legend.frameon": False, "legend.handlelength": 2.6, "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.35, "lines.scale_dashes": False, "svg.fonttype": "none", "text.color": INK,
    "text.parse_math": False, "xtick.color": QUIET, "xtick.labelsize": 11, "ytick.color": QUIET, "ytick.labelsize": 11,
    "ytick.major.size": 0,
}  # fmt: skip


@contextmanager
def settings(**more: Any) -> Iterator[None]:
    """matplotlib's defaults with ours, whatever the user has set: figures are drawn, and saved, within."""
    with rc_context(SETTINGS | more), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # fonts of pages have it
        yield


@dataclass(frozen=True)
class Layout:
    """Room for the data, and what stands below them."""

    handles: Sequence[Artist]
    names: Sequence[str]
    """The legend's."""
    listed: Sequence[str] = ()
    """Names without a handle."""
    numbers: Sequence[Text] = ()
    """Of points, still on them: they are moved to where there is room as soon as the scales are known."""
    height: float = HEIGHT
    left: float = LEFT
    right: float = SIDE


def draw(figure: Figure) -> Drawing:
    """The figure as one of matplotlib's, as high as it needs to be."""
    with settings():
        drawing = Drawing()
        axes = drawing.add_axes((0, 0, 1, 1))
        axes.patch.set_visible(False)
        if figure.x.log:
            axes.set_xscale("log")
        layout = KINDS[figure.kind](figure, axes)
        _arrange(drawing, axes, figure, layout)
        make_room(axes, layout.numbers)
        return drawing


def _curves(figure: Figure, axes: Axes) -> Layout:
    means = [trace for trace in figure.series if trace.part == "mean"]
    handles: list[Artist] = []
    for trace in figure.series:
        if trace.low:
            axes.fill_between(trace.x, trace.low, trace.high, color=_hue(trace.style), alpha=0.2, linewidth=0)
        if trace.part == "seed":
            look = {**_marks(trace.style, 1), "linestyle": "-", "linewidth": 0.75}
            axes.plot(trace.x, trace.y, **look, markevery=_alone(trace))
    for number, trace in enumerate(means):
        apart = max(1, len(trace.x) // 5)
        first = apart * number // len(means) + apart // 2 if len(trace.x) > 1 else 0
        marked = range(first, len(trace.x), apart) if len(means) > 1 else ()
        look = {**_marks(trace.style, 7), "linestyle": _dash(trace.style), "linewidth": 2.2}
        handles += axes.plot(trace.x, trace.y, **look, markevery=sorted({*marked, *_alone(trace)}))
    numbers = _numbers(means)
    _label(axes, means, numbers)
    right = SIDE + BEHIND[-1][0] if numbers else SIDE
    return Layout(handles if len(means) > 1 else [], _names(means, numbers), right=right)


def _points(figure: Figure, axes: Axes) -> Layout:
    means = [trace for trace in figure.series if trace.part == "mean"]
    for trace in figure.series:
        if trace.part == "seed":
            axes.plot(trace.x, trace.y, **_marks(trace.style, 4.5, hollow=True))
    handles = [line for trace in means for line in axes.plot(trace.x, trace.y, **_marks(trace.style, 8))]
    numbers = _numbers(means)
    return Layout(handles, _names(means, numbers), numbers=_on_points(axes, means, numbers))


def _cost(figure: Figure, axes: Axes) -> Layout:
    handles = {}
    for part, look in (("mean", {**_marks(1, 7, hollow=True), "color": QUIET}), ("front", _marks(0, 8))):
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
            hue = _hue(trace.style)
            handles[trace.label] = axes.stairs(
                floor - shares / peak * (step - LINE - 6), edges, baseline=floor, fill=True, linewidth=1.5,
                linestyle=_dash(trace.style), edgecolor=hue, facecolor="none" if trace.style else to_rgba(hue, 0.3),
            )  # fmt: skip
    axes.set_xlim(-1, 1)
    _stack(axes, panels, step, rules=range(1, len(panels)))
    return Layout(list(handles.values()), list(handles), height=step * len(panels), left=SIDE)


def _rows(figure: Figure, axes: Axes) -> Layout:
    rows, step = labels(figure.series), 2 * LINE
    several = any(trace.part == "seed" for trace in figure.series)
    looks = {
        ("seed", "single run"): _marks(0, 5, hollow=True),
        ("mean", "mean of our runs" if several else "our run"): _marks(0, 9),
        ("published", "published"): {**_marks(6, 8), "color": INK, "markerfacecolor": INK},
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
}


def _hue(style: int) -> str:
    return HUES[style % len(HUES)]


def _dash(style: int) -> Any:
    return (0, DASHES[style % len(HUES)]) if style % len(HUES) else "-"


def _marks(style: int, size: float, hollow: bool = False) -> dict[str, Any]:
    """Marks without a line."""
    hollow = hollow or style // len(HUES) % 2 == 1
    look = {"color": _hue(style), "linestyle": "none", "marker": MARKS[style % len(HUES)], "markersize": size}
    return {**look, "markeredgewidth": 1.2, "markerfacecolor": PAPER if hollow else look["color"]}


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


def _arrange(drawing: Drawing, axes: Axes, figure: Figure, layout: Layout) -> None:
    """Scales around the data, the legend below, and what else is listed below that."""
    stacked = not axes.yaxis.get_visible()
    columns = max(1, LETTERS // (max(map(len, layout.names), default=0) + 7))
    names = [fitted(name, LETTERS - 7, lines=2) for name in layout.names]
    legend = sum(LINE + 14 * name.count("\n") for name in names[::columns]) + 8 if layout.handles else 0
    lists = _columns(layout.listed)
    below = FOOT + legend + LINE * max(map(len, lists), default=0)
    width, height = WIDTH - layout.left - layout.right, layout.height
    total = below + height + (0 if stacked else TOP)
    drawing.set_size_inches(WIDTH / 72, total / 72)
    axes.set_position((layout.left / WIDTH, below / total, width / WIDTH, height / total))
    low, high = axes.get_xlim()
    if figure.x.whole and high - low < 1:
        axes.set_xlim(round(low) - 1, round(high) + 1)
    _scale(axes.xaxis, figure.x, 5)
    axes.set_xlabel(fitted(figure.x.name, LETTERS), loc="right")
    axes.xaxis.set_label_coords(1, -19 / height)
    if not stacked:
        low, high = axes.get_ylim()
        if high - low <= SAME * max(abs(low), abs(high)):
            axes.set_ylim(low - abs(low) / 10, high + abs(high) / 10)
        _scale(axes.yaxis, figure.y, 4)
        axes.yaxis.set_offset_position("right")
        axes.set_ylabel(fitted(figure.y.name, LETTERS), rotation=0, ha="left", va="bottom")
        axes.yaxis.set_label_coords(-layout.left / width, 1 + 8 / height)
    place = (0, (below - FOOT) / total)
    if layout.handles:
        drawing.legend(layout.handles, names, loc="upper left", bbox_to_anchor=place, ncols=columns)
    for number, lines in enumerate(lists):
        drawing.text(number / 2, (below - FOOT - legend) / total, "\n".join(lines), va="top", linespacing=1.5)


def _columns(listed: Sequence[str]) -> list[list[str]]:
    """Lines of two columns; long names take two lines."""
    half = -(-len(listed) // 2)
    texts = [[fitted(name, LETTERS // 2 - 2, lines=2) for name in part] for part in (listed[:half], listed[half:])]
    return ["\n".join(part).split("\n") for part in texts if part]


def _scale(ruler: Ruler, axis: Axis, most: int) -> None:
    """Few round ticks, in the unit of the axis."""
    low, high = sorted(ruler.get_view_interval())
    if axis.log:
        ruler.set_major_locator(LogLocator(subs=(1,) if high > 100 * low else (1, 2, 5), numticks=most))
        ruler.set_minor_locator(NullLocator())
    else:
        ruler.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=axis.whole))
    if axis.percent:
        ruler.set_major_formatter(PercentFormatter(1))
    elif axis.whole or max(abs(low), abs(high)) >= 1e4:
        ruler.set_major_formatter(EngFormatter(sep=""))
    else:
        ruler.set_major_formatter(StrMethodFormatter("{x:g}") if axis.log else ScalarFormatter(useOffset=False))
