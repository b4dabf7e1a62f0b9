"""Drawings of small panels, many on a page: tuning curves and what a score depends on. A page's panels share scales."""

from dataclasses import replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from benchsuite.report.figures.frame import Layout, hue_of, marks_of
from benchsuite.report.figures.model import Figure
from benchsuite.report.figures.style import INK, PANEL_HEIGHT, PANEL_WIDTH, QUIET

PANEL = Layout([], [], height=PANEL_HEIGHT, width=PANEL_WIDTH)
LOOKS = {
    "trial": {**marks_of(0, 6), "alpha": 0.75},
    "chosen": {**marks_of(1, 9), "marker": "D"},
    "failed": {"color": INK, "linestyle": "none", "marker": "x", "markersize": 7, "markeredgewidth": 1.5},
}
NAMES = {"trial": "trial", "chosen": "chosen", "failed": "failed", "default": "default"}


def tuning(figure: Figure, axes: Axes) -> Layout:
    """A median with its band, beside the reference's."""
    low, high = figure.y.ends or (-np.inf, np.inf)
    handles: dict[str, Artist] = {}
    for trace in figure.series:
        y = np.clip(trace.y, low, high)
        if trace.part == "reference":
            (handles[trace.label],) = axes.plot(trace.x, y, color=QUIET, linestyle=(0, (4, 2)), linewidth=1.6)
        else:
            (handles["this method"],) = axes.plot(trace.x, y, color=hue_of(0), linewidth=2.4)
        if trace.low:
            band = np.clip(trace.low, low, high), np.clip(trace.high, low, high)
            handles["95% band"] = axes.fill_between(trace.x, *band, color=hue_of(0), alpha=0.2, linewidth=0)
    return replace(PANEL, handles=list(handles.values()), names=list(handles))


def sensitivity(figure: Figure, axes: Axes) -> Layout:
    """Each trial's score at one of its drawn values; failed ones stand on the floor."""
    floor, _ = figure.y.ends or (0.0, 1.0)
    handles: dict[str, Artist] = {}
    for trace in figure.series:
        if trace.part == "default":
            handles[trace.part] = axes.axvline(trace.x[0], color=QUIET, linestyle=(0, (4, 2)), linewidth=1.4, zorder=1)
        else:
            y = [floor] * len(trace.x) if trace.part == "failed" else trace.y
            (handles[trace.part],) = axes.plot(trace.x, y, **LOOKS[trace.part])
    axes.margins(x=0.06)
    return replace(PANEL, handles=list(handles.values()), names=[NAMES[part] for part in handles])
