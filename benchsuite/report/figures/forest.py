"""Forest plots for papers: a line for each comparison, its name to the left, its numbers to the right."""

import math
from collections.abc import Mapping

from benchsuite.report.figures.canvas import Canvas, Look, fitted, segments
from benchsuite.report.figures.chart import Drawn, area_sample, draw_scale, mark_sample
from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.figures.scale import Scale
from benchsuite.report.figures.style import FOOT, HUES, QUIET, RULE

WIDTH, LEFT, RIGHT = 540, 210, 180
"""In 1/72 inch: the whole, and what names and numbers take of it."""
STEP, LETTERS = 17, 36
"""A line's height, and letters of a name."""
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
    heights = _heights(figure)
    foot = max(heights.values()) + STEP
    inside = [trace for trace in figure.series if trace.part in ("mean", "seed")]
    values = [value for trace in inside for value in (*trace.x, *trace.low, *trace.high)]
    scale = Scale.over(figure.x, [0.0, *values], LEFT, WIDTH - RIGHT, 0.06)
    legend = [("mean, 95% CI", mark_sample(*OTHERS))]
    for trace in (trace for trace in figure.series if trace.part == "band"):
        at, left, right = heights[trace.y[0]], max(trace.low[0], scale.low), min(trace.high[0], scale.high)
        corners = [(left, at - STEP / 2), (right, at - STEP / 2), (right, at + STEP / 2), (left, at + STEP / 2)]
        canvas.area([(scale.at(x), y) for x, y in corners], RULE, OPACITY)
    draw_scale(canvas, scale, foot, WIDTH, grid=True)
    canvas.line([(scale.at(0), 0), (scale.at(0), foot)], QUIET)
    for trace in figure.series:
        at = heights[trace.y[0]]
        if trace.part == "published":
            _text(canvas, LEFT - 8, at, _signed(trace.x[0], figure.x), "end")
        elif trace.part == "seed":
            canvas.line(segments(((scale.at(x), at + 3), (scale.at(x), at + 7)) for x in trace.x), QUIET, 0.8)
        elif trace.part == "mean":
            _draw_mean(canvas, trace, at, scale)
    _draw_headings(figure, canvas, heights)
    parts = {trace.part for trace in figure.series}
    if "seed" in parts:
        legend.append(
            ("single seeds", lambda canvas, x, y: canvas.line([(x + 15.5, y - 2), (x + 15.5, y + 2)], QUIET, 0.8))
        )
    if "band" in parts:
        legend.append(("not confirmable", area_sample(RULE, OPACITY)))
    return Drawn(WIDTH, foot + FOOT, legend)


def _heights(figure: Figure) -> dict[float, float]:
    """How far from the top each line stands; a heading takes a line."""
    heights: dict[float, float] = {}
    heading, at = None, -0.4
    for trace in figure.series:
        if trace.y[0] not in heights:
            at += 1 if trace.panel == heading else 2 if heights or trace.panel else 1
            heights[trace.y[0]], heading = at * STEP, trace.panel
    return heights


def _draw_headings(figure: Figure, canvas: Canvas, heights: Mapping[float, float]) -> None:
    """Above the first line of each heading; beside the first of all what the columns of numbers are."""
    heading = None
    for trace in figure.series:
        at = heights[trace.y[0]] - STEP
        if heading is None:
            _text(canvas, WIDTH - RIGHT + 8, at, "mean [95% CI]")
            if any(trace.part == "published" for trace in figure.series):
                _text(canvas, LEFT - 8, at, "published", "end")
        if trace.panel != heading:
            _text(canvas, 1, at, fitted(trace.panel, LETTERS if heading is None else 2 * LETTERS), "dark", "bold")
        heading = trace.panel


def _draw_mean(canvas: Canvas, trace: Trace, at: float, scale: Scale) -> None:
    """With its interval, its name and its numbers."""
    (mean,), reach = trace.x, ""
    if math.isfinite(mean):
        look = LOOKS.get(trace.note, OTHERS)
        if trace.low:
            canvas.line([(scale.at(trace.low[0]), at), (scale.at(trace.high[0]), at)], look[1], 1.6)
            reach = f" [{_signed(trace.low[0], scale.axis)}, {_signed(trace.high[0], scale.axis)}]"
        canvas.marks([(scale.at(mean), at)], *look)
        reach = f"{_signed(mean, scale.axis)}{reach} "
    _text(canvas, 8, at, fitted(trace.label, LETTERS), "dark")
    _text(canvas, WIDTH - RIGHT + 8, at, f"{reach}{trace.note}")


def _text(canvas: Canvas, x: float, middle: float, text: str, *looks: Look) -> None:
    canvas.text(x, middle + 3.3, text, "small", *looks)


def _signed(value: float, axis: Axis) -> str:
    """With its sign: in percentage points, or a plain number."""
    return (f"{value:+.2f}" if axis.points else f"{value:+.3g}").replace("-", "−")
