"""Figures whose rows lie below each other on one x axis: histograms, and one number of each row."""

from collections.abc import Sequence

from benchsuite.report.figures.canvas import Canvas, Point, fitted, segments
from benchsuite.report.figures.chart import Drawn, Sample, draw_scale, mark_sample
from benchsuite.report.figures.model import Figure, labels
from benchsuite.report.figures.scale import Scale
from benchsuite.report.figures.style import FOOT, HUES, INK, LETTERS, LINE, RULE, SIDE, WIDTH, dash_of, hue_of

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
    _draw_rows(canvas, scale, panels, step)
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


def rows(figure: Figure, canvas: Canvas) -> Drawn:
    """Each row's number: of single runs, their mean, and the published one."""
    names, step = labels(figure.series), 2 * LINE
    scale = Scale.over(figure.x, [x for trace in figure.series for x in trace.x], START, END, 0.02)
    _draw_rows(canvas, scale, names, step, grid=True)
    several = any(trace.part == "seed" for trace in figure.series)
    looks = (
        ("seed", "single run", ("o", HUES[0], 5, True)),
        ("mean", "mean of our runs" if several else "our run", ("o", HUES[0], 9, False)),
        ("published", "published", ("X", INK, 8, False)),
    )
    legend: list[tuple[str, Sample]] = []
    for part, name, look in looks:
        traces = [trace for trace in figure.series if trace.part == part]
        places: list[Point] = [(scale.at(x), step * names.index(trace.label) + 26) for trace in traces for x in trace.x]
        if places:
            canvas.marks(places, *look)
            legend.append((name, mark_sample(*look)))
    return Drawn(WIDTH, step * len(names) + FOOT, legend if len(legend) > 1 else [])


def _draw_rows(canvas: Canvas, scale: Scale, names: Sequence[str], step: float, grid: bool = False) -> None:
    """Rules between rows so high, each row with its name above its data, and the scale below all."""
    canvas.line(segments(((START, step * row), (END, step * row)) for row in range(1, len(names))), RULE)
    draw_scale(canvas, scale, step * len(names), WIDTH, grid)
    for row, name in enumerate(names):
        canvas.text(START, step * row + 13, fitted(name, LETTERS), "word")


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
