"""What all drawings share: room for the data, and scales around it."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context, rcParamsDefault
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as Ruler
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text
from matplotlib.ticker import (
    EngFormatter,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
    ScalarFormatter,
    StrMethodFormatter,
)

from benchsuite.report.figures.model import Axis, Figure
from benchsuite.report.figures.style import (
    DASHES,
    FOOT,
    HEIGHT,
    HUES,
    INK,
    LEFT,
    LETTERS,
    LINE,
    MARKS,
    PAPER,
    QUIET,
    RULE,
    SAME,
    SIDE,
    TOP,
    WIDTH,
)
from benchsuite.report.figures.words import fitted

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
    width: float = WIDTH
    """Of the whole drawing."""


def arrange(drawing: Drawing, axes: Axes, figure: Figure, layout: Layout) -> None:
    """Scales around the data, the legend below, and what else is listed below that."""
    stacked = not axes.yaxis.get_visible()
    letters = int(LETTERS * layout.width / WIDTH)
    columns = max(1, letters // (max(map(len, layout.names), default=0) + 7))
    names = [fitted(name, letters - 7, lines=2) for name in layout.names]
    legend = sum(LINE + 14 * name.count("\n") for name in names[::columns]) + 8 if layout.handles else 0
    lists = _columns(layout.listed)
    below = FOOT + legend + LINE * max(map(len, lists), default=0)
    width, height = layout.width - layout.left - layout.right, layout.height
    total = below + height + (0 if stacked else TOP)
    drawing.set_size_inches(layout.width / 72, total / 72)
    axes.set_position((layout.left / layout.width, below / total, width / layout.width, height / total))
    low, high = axes.get_xlim()
    if figure.x.whole and high - low < 1:
        axes.set_xlim(round(low) - 1, round(high) + 1)
    _scale(axes.xaxis, figure.x, 5)
    axes.set_xlabel(fitted(figure.x.name, letters), loc="right")
    axes.xaxis.set_label_coords(1, -19 / height)
    if not stacked:
        if figure.y.ends:
            axes.set_ylim(*figure.y.ends)
        low, high = axes.get_ylim()
        if high - low <= SAME * max(abs(low), abs(high)):
            axes.set_ylim(low - abs(low) / 10, high + abs(high) / 10)
        _scale(axes.yaxis, figure.y, 4)
        axes.yaxis.set_offset_position("right")
        axes.set_ylabel(fitted(figure.y.name, letters), rotation=0, ha="left", va="bottom")
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
    elif axis.points:
        ruler.set_major_formatter(FuncFormatter(lambda value, _: f"{round(100 * value, 6):g}".replace("-", "−")))
    elif axis.whole or max(abs(low), abs(high)) >= 1e4:
        ruler.set_major_formatter(EngFormatter(sep=""))
    else:
        ruler.set_major_formatter(StrMethodFormatter("{x:g}") if axis.log else ScalarFormatter(useOffset=False))


def hue_of(style: int) -> str:
    """A series' colour."""
    return HUES[style % len(HUES)]


def dash_of(style: int) -> Any:
    """A series' dash, as matplotlib takes it."""
    return (0, DASHES[style % len(HUES)]) if style % len(HUES) else "-"


def marks_of(style: int, size: float, hollow: bool = False) -> dict[str, Any]:
    """Marks without a line."""
    hollow = hollow or style // len(HUES) % 2 == 1
    look = {"color": hue_of(style), "linestyle": "none", "marker": MARKS[style % len(HUES)], "markersize": size}
    return {**look, "markeredgewidth": 1.2, "markerfacecolor": PAPER if hollow else look["color"]}
