"""Histograms of rows, one below the other on one x axis."""

from collections.abc import Sequence

from benchsuite.report.figures.canvas import Canvas, fitted, segments
from benchsuite.report.figures.chart import Drawn, Sample, draw_scale
from benchsuite.report.figures.model import Figure
from benchsuite.report.figures.scale import Scale
from benchsuite.report.figures.style import FOOT, LETTERS, LINE, RULE, SIDE, WIDTH, dash_of, hue_of

START, END = SIDE, WIDTH - SIDE
COSINES = (-1.0, 1.0)
FILLED = 0.3
"""Opacity."""


def histogram(figure: Figure, canvas: Canvas) -> Drawn:
    """Shares over cosines, those of a row as high as its room; the first side is filled, the others are outlines."""
    panels = list(dict.fromkeys(trace.panel for trace in figure.series))
    room = max(38, 108 - 6 * len(panels)) - 6
    step = room + LINE + 6
    scale = Scale.over(figure.x, COSINES, START, END, 0)
    canvas.line(segments(((START, step * row), (END, step * row)) for row in range(1, len(panels))), RULE)
    draw_scale(canvas, scale, step * len(panels), WIDTH)
    for row, name in enumerate(panels):
        canvas.text(START, step * row + 13, fitted(name, LETTERS), "word")
    legend: dict[str, Sample] = {}
    for trace in figure.series:
        floor = step * (panels.index(trace.panel) + 1)
        peak = max(max(other.y) for other in figure.series if other.panel == trace.panel)
        held = [number for number, share in enumerate(trace.y) if share]
        if held:
            first, last = held[0], held[-1] + 1
            edges = [scale.at(edge) for edge in [*trace.x, COSINES[1]][first : last + 1]]
            _draw_steps(
                canvas, edges, [floor - share / peak * room for share in trace.y[first:last]], floor, trace.style
            )
            legend[trace.label] = _step_sample(trace.style)
    return Drawn(WIDTH, step * len(panels) + FOOT, list(legend.items()))


def _draw_steps(canvas: Canvas, edges: Sequence[float], tops: Sequence[float], floor: float, style: int) -> None:
    """From the floor up, level from edge to edge, and down again."""
    levels = [
        place for left, right, top in zip(edges, edges[1:], tops, strict=False) for place in ((left, top), (right, top))
    ]
    outline = [(edges[0], floor), *levels, (edges[-1], floor)]
    if not style:
        canvas.area(outline, hue_of(style), FILLED)
    canvas.line(outline, hue_of(style), 1.5, dash_of(style))


def _step_sample(style: int) -> Sample:
    return lambda canvas, x, y: _draw_steps(canvas, [x + 1, x + 31], [y - 4], y + 4, style)
