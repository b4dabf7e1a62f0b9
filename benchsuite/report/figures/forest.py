"""Forest plots for papers: a line for each comparison, its name to the left, its numbers to the right.

A figure may have columns, such as one for each regime: they share lines and scale.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchsuite.report.figures.canvas import Canvas, Look, fitted, segments
from benchsuite.report.figures.chart import Drawn, Sample, area_sample, draw_scale, mark_sample
from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.figures.scale import Scale
from benchsuite.report.figures.style import FOOT, HUES, QUIET, RULE


@dataclass(frozen=True)
class Layout:
    """What takes how much of the width, in 1/72 inch."""

    left: float
    """Names of lines, and published differences."""
    plot: float
    right: float
    """Numbers; of each column, as the plot is."""
    letters: int
    """Of a name."""
    several: bool = False
    """Columns: verdicts are marks then, and no words."""

    def start(self, column: int) -> float:
        return self.left + column * (self.plot + self.right)


ALONE, BESIDE = Layout(210, 150, 180, 36), Layout(280, 116, 72, 50, several=True)
STEP = 17
"""A line's height."""
AHEAD, BEHIND = ("o", HUES[4], 6.5, False), ("X", HUES[1], 6.5, False)
LOOKS: Mapping[str, tuple[str, str, float, bool]] = {
    "reproduced": AHEAD, "better": AHEAD, "opposite": BEHIND, "worse": BEHIND,
    "equivalent": ("s", HUES[0], 6.5, False),
}  # fmt: skip
"""Of marks by verdict."""
OTHERS = ("o", QUIET, 6.5, True)
OPACITY = 0.6
"""Of grey bands."""


def forest(figure: Figure, canvas: Canvas) -> Drawn:
    """Marks with intervals, seeds and grey bands. Headings stand above their lines, published differences beside.

    The scale holds zero, means, intervals and seeds: a band that few seeds make wide is cut off there.
    """
    columns = list(dict.fromkeys(trace.column for trace in figure.series))
    layout = ALONE if len(columns) == 1 else BESIDE
    heights = _heights(figure, layout)
    foot = max(heights.values()) + STEP
    inside = [trace for trace in figure.series if trace.part in ("mean", "seed")]
    values = [0.0, *(value for trace in inside for value in (*trace.x, *trace.low, *trace.high))]
    for number, column in enumerate(columns):
        axis = figure.x if column == columns[-1] else replace(figure.x, name="")
        scale = Scale.over(axis, values, layout.start(number), layout.start(number) + layout.plot, 0.06)
        _draw_column([trace for trace in figure.series if trace.column == column], canvas, heights, foot, scale, layout)
    _draw_headings(figure, canvas, heights, layout)
    return Drawn(layout.start(len(columns)), foot + FOOT, _legend(figure, layout))


def _heights(figure: Figure, layout: Layout) -> dict[float, float]:
    """How far from the top each line stands; a heading takes a line, and so do the names of columns."""
    heights: dict[float, float] = {}
    heading, at = None, 0.6 if layout.several else -0.4
    for trace in figure.series:
        if trace.y[0] not in heights:
            at += 1 if trace.panel == heading else 2 if heights or trace.panel else 1
            heights[trace.y[0]], heading = at * STEP, trace.panel
    return heights


def _draw_column(
    traces: Sequence[Trace], canvas: Canvas, heights: Mapping[float, float], foot: float, scale: Scale, layout: Layout
) -> None:
    """What lies on one scale, from the back to the front."""
    for trace in (trace for trace in traces if trace.part == "band"):
        at, left, right = heights[trace.y[0]], max(trace.low[0], scale.low), min(trace.high[0], scale.high)
        corners = [(left, at - STEP / 2), (right, at - STEP / 2), (right, at + STEP / 2), (left, at + STEP / 2)]
        canvas.area([(scale.at(x), y) for x, y in corners], RULE, OPACITY)
    draw_scale(canvas, scale, foot, layout.start(1), grid=True)
    canvas.line([(scale.at(0), 0), (scale.at(0), foot)], QUIET)
    for trace in traces:
        at = heights[trace.y[0]]
        if trace.part == "published":
            _text(canvas, layout.left - 8, at, _signed(trace.x[0], scale.axis), "end")
        elif trace.part == "seed":
            canvas.line(segments(((scale.at(x), at + 3), (scale.at(x), at + 7)) for x in trace.x), QUIET, 0.8)
        elif trace.part == "mean":
            _draw_mean(canvas, trace, at, scale, layout)


def _draw_headings(figure: Figure, canvas: Canvas, heights: Mapping[float, float], layout: Layout) -> None:
    """Above the first line of each heading; above the first of all what the columns of numbers are."""
    first = figure.series[0]
    top = heights[first.y[0]] - STEP * (2 if layout.several else 1)
    for number, column in enumerate(dict.fromkeys(trace.column for trace in figure.series)):
        if layout.several:
            _text(canvas, layout.start(number), top, column, "dark", "bold")
        else:
            _text(canvas, layout.left + layout.plot + 8, top, "mean [95% CI]")
    if any(trace.part == "published" for trace in figure.series):
        _text(canvas, layout.left - 8, top, "published", "end")
    heading = None
    for trace in figure.series:
        if trace.panel != heading:
            beside_head = heading is None and not layout.several
            wide = layout.letters if beside_head else 2 * layout.letters
            _text(canvas, 1, heights[trace.y[0]] - STEP, fitted(trace.panel, wide), "dark", "bold")
        heading = trace.panel


def _draw_mean(canvas: Canvas, trace: Trace, at: float, scale: Scale, layout: Layout) -> None:
    """With its interval, its name and its numbers."""
    (mean,), said = trace.x, trace.note
    if math.isfinite(mean):
        look = LOOKS.get(trace.note, OTHERS)
        reach = ""
        if trace.low:
            (low,), (high,) = trace.low, trace.high
            canvas.line([(scale.at(low), at), (scale.at(high), at)], look[1], 1.6)
            reach = f" [{_signed(low, scale.axis)}, {_signed(high, scale.axis)}]"
            if layout.several:
                reach = f" ± {_signed((high - low) / 2, scale.axis)[1:]}"
        canvas.marks([(scale.at(mean), at)], *look)
        said = f"{_signed(mean, scale.axis)}{reach}" + f" {trace.note}" * (not layout.several)
    if scale.start == layout.left:
        _text(canvas, 8, at, fitted(trace.label, layout.letters), "dark")
    _text(canvas, scale.end + 8, at, said)


def _legend(figure: Figure, layout: Layout) -> list[tuple[str, Sample]]:
    parts = {trace.part for trace in figure.series}
    notes = dict.fromkeys(trace.note for trace in figure.series if trace.note in LOOKS) if layout.several else ()
    legend = [("mean, 95% CI", mark_sample(*OTHERS)), *((note, mark_sample(*LOOKS[note])) for note in notes)]
    if "seed" in parts:
        legend.append(
            ("single seeds", lambda canvas, x, y: canvas.line([(x + 15.5, y - 2), (x + 15.5, y + 2)], QUIET, 0.8))
        )
    if "band" in parts:
        legend.append(("not confirmable", area_sample(RULE, OPACITY)))
    return legend


def _text(canvas: Canvas, x: float, middle: float, text: str, *looks: Look) -> None:
    canvas.text(x, middle + 3.3, text, "small", *looks)


def _signed(value: float, axis: Axis) -> str:
    """With its sign: in percentage points, or a plain number."""
    return (f"{value:+.2f}" if axis.points else f"{value:+.3g}").replace("-", "−")
