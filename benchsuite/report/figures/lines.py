"""Drawing of forest plots for papers: a line for each comparison, its name to the left, its numbers to the right."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from benchsuite.report.figures.frame import Layout
from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.figures.style import HUES, PAPER, QUIET, RULE
from benchsuite.report.figures.words import difference, fitted

WIDTH, LEFT, RIGHT = 540, 210, 180
"""In 1/72 inch: the whole, and what names and numbers take of it."""
STEP, LETTERS = 17, 36
"""A line's height, and letters of a name."""
AHEAD, BEHIND = {"color": HUES[4], "marker": "o"}, {"color": HUES[1], "marker": "X"}
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "reproduced": AHEAD, "better": AHEAD, "opposite": BEHIND, "worse": BEHIND,
    "equivalent": {"color": HUES[0], "marker": "s"},
}  # fmt: skip
"""Of marks by verdict."""
OTHERS: Mapping[str, Any] = {"color": QUIET, "marker": "o", "markerfacecolor": PAPER}


def forest(figure: Figure, axes: Axes) -> Layout:
    """Marks with intervals, seeds and grey bands. Headings stand above their lines, published differences beside."""
    places = _places(figure)
    handles: dict[str, Artist] = {}
    for trace in figure.series:
        at = places[trace.y[0]]
        if trace.part == "band":
            ends = [at - STEP / 2, at + STEP / 2]
            band = axes.fill_betweenx(ends, trace.low[0], trace.high[0], color=RULE, alpha=0.6, linewidth=0)
            handles["not confirmable"] = band
        elif trace.part == "published":
            _text(axes, -8, at, difference(trace.x[0], figure.x), color=QUIET, ha="right")
        elif trace.part == "seed":
            look: dict[str, Any] = {"color": QUIET, "marker": "|", "markersize": 4, "linestyle": "none", "alpha": 0.7}
            (handles["single seeds"],) = axes.plot(trace.x, np.full(len(trace.x), at + 5), **look)
        else:
            _mean(axes, trace, at, figure.x)
    _heads(figure, axes, places)
    axes.axvline(0, color=QUIET, linewidth=1, zorder=0)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x")
    height = max(places.values()) + STEP
    axes.set_ylim(height, 0)
    axes.set_xlim(*_ends(figure))
    axes.yaxis.set_visible(False)
    (handles["mean, 95% CI"],) = axes.plot([], [], markersize=6.5, linestyle="none", **OTHERS)
    names = [name for name in ("mean, 95% CI", "single seeds", "not confirmable") if name in handles]
    return Layout([handles[name] for name in names], names, height=height, left=LEFT, right=RIGHT, width=WIDTH)


def _ends(figure: Figure) -> tuple[float, float]:
    """Around zero, means, intervals and seeds: a band that few seeds make wide is cut off there."""
    inside = [trace for trace in figure.series if trace.part in ("mean", "seed")]
    values = [0.0, *(value for trace in inside for value in (*trace.x, *trace.low, *trace.high) if np.isfinite(value))]
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 1.0
    return low - room, high + room


def _places(figure: Figure) -> dict[float, float]:
    """How far from the top each line stands, in 1/72 inch; a heading takes a line."""
    places: dict[float, float] = {}
    heading, at = None, -0.4
    for trace in figure.series:
        if trace.y[0] not in places:
            at += 1 if trace.panel == heading else 2 if places or trace.panel else 1
            places[trace.y[0]], heading = at * STEP, trace.panel
    return places


def _heads(figure: Figure, axes: Axes, places: Mapping[float, float]) -> None:
    """Above the first line of each heading; beside the first of all what the columns of numbers are."""
    heading = None
    for trace in figure.series:
        at = places[trace.y[0]] - STEP
        if heading is None:
            _text(axes, WIDTH - LEFT - RIGHT + 8, at, "mean [95% CI]", color=QUIET)
            if any(trace.part == "published" for trace in figure.series):
                _text(axes, -8, at, "published", color=QUIET, ha="right")
        if trace.panel != heading:
            _text(axes, 1 - LEFT, at, fitted(trace.panel, LETTERS if heading is None else 2 * LETTERS), weight="bold")
        heading = trace.panel


def _mean(axes: Axes, trace: Trace, at: float, axis: Axis) -> None:
    """With its interval, its name and its numbers."""
    (mean,), reach = trace.x, ""
    if np.isfinite(mean):
        look = {"markersize": 6.5, "linestyle": "none", **LOOKS.get(trace.note, OTHERS)}
        if trace.low:
            axes.hlines(at, trace.low[0], trace.high[0], color=look["color"], linewidth=1.6)
            reach = f" [{difference(trace.low[0], axis)}, {difference(trace.high[0], axis)}]"
        axes.plot([mean], [at], **look)
        reach = f"{difference(mean, axis)}{reach} "
    _text(axes, 8 - LEFT, at, fitted(trace.label, LETTERS))
    _text(axes, WIDTH - LEFT - RIGHT + 8, at, f"{reach}{trace.note}", color=QUIET)


def _text(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """At so many 1/72 inch from the left end of the data."""
    across = axes.get_yaxis_transform()
    axes.text(x / (WIDTH - LEFT - RIGHT), y, text, transform=across, va="center", size=9, **look)
