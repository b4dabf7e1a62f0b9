"""Figures drawn, a function a kind: into axes of one width and as high as their data and legends need."""

import math
from collections.abc import Callable, Mapping, Sequence

from matplotlib import rc_context

from benchsuite.report.figures import styles
from benchsuite.report.figures.frame import (
    EDGE,
    LINE,
    Entry,
    Frame,
    across,
    framed,
    legend,
    legend_height,
    numbered,
)
from benchsuite.report.figures.markup import shortened
from benchsuite.report.figures.model import Figure, Kind, Trace, labels
from benchsuite.report.figures.scales import Scale
from benchsuite.report.figures.surface import OWN, Surface

TOP, HEIGHT, FOOT = 28, 220, 40
"""Above the data, of the data, and for the x axis below."""
MOST_STYLES = 8
"""More series than that also have numbers."""
GAP = 8
"""Between panels."""
MARKS = 5
"""Marks along a line."""


def draw(figure: Figure, width: float) -> tuple[str, float]:
    """The drawing as SVG elements, and its height; the same whatever the user's matplotlib is set to."""
    with rc_context(OWN):
        surface = DRAWINGS[figure.kind](figure, width)
        return surface.markup(), surface.height


def _curves(figure: Figure, width: float) -> Surface:
    bold = [one for one in figure.series if one.part == "mean"]
    numbers = _numbers(bold)
    entries = [Entry(one.label, one.style, number=numbers.get(one.label)) for one in bold]
    surface, frame = _with_legend(figure, width, entries if len(bold) > 1 else [])
    for one in figure.series:
        if one.low:
            x, low, high = frame.x.all(one.x), frame.y.all(one.low), frame.y.all(one.high)
            surface.area(x, low, high, styles.hue(one.style), 0.2)
    for one in figure.series:
        if one.part == "seed":
            surface.line(frame.x.all(one.x), frame.y.all(one.y), f"{styles.hue(one.style)} thin", 0.75)
    for number, one in enumerate(bold):
        x, y = frame.x.all(one.x), frame.y.all(one.y)
        surface.line(x, y, styles.hue(one.style), 2.2, styles.dash(one.style))
        if len(bold) > 1 or len(one.points) == 1:
            every = max(1, len(x) // MARKS)
            first = every * number // len(bold) + every // 2 if len(x) > 1 else 0
            hollow = styles.hollow(one.style)
            surface.marks(x, y, styles.hue(one.style), styles.mark(one.style), 3.6, hollow, (first, every))
    _number(surface, frame, bold, numbers)
    return surface


def _points(figure: Figure, width: float) -> Surface:
    means = [one for one in figure.series if one.part == "mean"]
    numbers = _numbers(means)
    entries = [Entry(one.label, one.style, line=False, number=numbers.get(one.label)) for one in means]
    surface, frame = _with_legend(figure, width, entries)
    for one in figure.series:
        x, y = frame.x.all(one.x), frame.y.all(one.y)
        if one.part == "seed":
            surface.marks(x, y, f"{styles.hue(one.style)} thin", styles.mark(one.style), 2.2, hollow=True)
    for one in means:
        x, y = frame.x.all(one.x), frame.y.all(one.y)
        surface.marks(x, y, styles.hue(one.style), styles.mark(one.style), 4.2, styles.hollow(one.style))
    _number(surface, frame, means, numbers)
    return surface


def _cost(figure: Figure, width: float) -> Surface:
    ordered = sorted(figure.series, key=lambda one: (one.part != "front", one.points[0]))
    front = [one for one in ordered if one.part == "front"]
    numbers = {one.label: number for number, one in enumerate(ordered, 1)}
    entries = [
        Entry("on the Pareto front", 0, group="s1"),
        *([Entry("not on it", 1, line=False, group="quiet", hollow=True)] if len(front) < len(ordered) else []),
    ]
    names = [Entry(one.label, 0, line=False, mark=False, number=numbers[one.label]) for one in ordered]
    surface, frame = _with_legend(figure, width, entries, names)
    corners = _stairs([one.points[0] for one in front], figure)
    surface.line(frame.x.all([x for x, _ in corners]), frame.y.all([y for _, y in corners]), "s1", 1.5)
    for some, group, style in ((ordered[len(front) :], "quiet", 1), (front, "s1", 0)):
        x, y = ([scale.at(one.points[0][at]) for one in some] for at, scale in enumerate((frame.x, frame.y)))
        bounded = [(at, one) for at, one in zip(x, some, strict=True) if one.low and _finite(one.low[0], one.high[0])]
        bars = [(at, frame.y.at(one.low[0]), at, frame.y.at(one.high[0])) for at, one in bounded]
        surface.strokes(bars, group, 1.2)
        surface.marks(x, y, group, styles.mark(style), 4, hollow=bool(style))
    _number(surface, frame, ordered, numbers)
    return surface


def _histogram(figure: Figure, width: float) -> Surface:
    panels = list(dict.fromkeys(one.panel for one in figure.series))
    sides = {one.label: one.style for one in figure.series}
    entries = [Entry(label, style, mark=False) for label, style in sides.items()]
    step = LINE + GAP + max(30, 100 - 6 * len(panels))
    bottom = step * len(panels)
    top = bottom + FOOT
    surface = Surface(width, top + legend_height(entries, width))
    scale = Scale(figure.x, [-1.0, 1.0], EDGE, width - EDGE, ticks=5, within=0)
    for number, panel in enumerate(panels):
        floor = step * (number + 1)
        shown = [one for one in figure.series if one.panel == panel]
        upright = Scale(figure.y, [0.0, max(max(one.y) for one in shown)], floor, floor - step + GAP + LINE, within=0)
        surface.line([EDGE, width - EDGE], [floor, floor], "rule", 1)
        for one in shown:
            _steps(surface, one, scale, upright)
        surface.text(0, floor - step + GAP + 8, shortened(panel, width))
    across(surface, scale, figure.x, bottom, EDGE, width - EDGE)
    legend(surface, entries, top)
    return surface


def _steps(surface: Surface, one: Trace, x: Scale, y: Scale) -> None:
    """The outline of the bins that hold anything, from their floor up; the first style's is filled."""
    held = [number for number, share in enumerate(one.y) if share > 0]
    if not held:
        return
    part = slice(held[0], held[-1] + 1)
    wide = one.x[1] - one.x[0] if len(one.x) > 1 else 2.0
    edges = [edge for left in one.x[part] for edge in (left, left + wide)]
    tops = [share for share in one.y[part] for _ in range(2)]
    across_, up = x.all([edges[0], *edges, edges[-1]]), y.all([0.0, *tops, 0.0])
    if one.style == 0:
        surface.area(across_, [y.at(0.0)] * len(up), up, styles.hue(0), 0.3)
    surface.line(across_, up, styles.hue(one.style), 1.5, styles.dash(one.style))


def _rows(figure: Figure, width: float) -> Surface:
    rows = labels(figure.series)
    parts = {one.part for one in figure.series}
    entries = [Entry("mean of our runs" if "seed" in parts else "our run", 0, line=False)]
    entries += [Entry("single run", 0, line=False, hollow=True)] if "seed" in parts else []
    entries += [Entry("published", 6, line=False, group="ink")] if "published" in parts else []
    entries = entries if len(entries) > 1 else []
    step = 2 * LINE
    bottom = step * len(rows)
    top = bottom + FOOT
    surface = Surface(width, top + legend_height(entries, width))
    scale = Scale(figure.x, [x for one in figure.series for x, _ in one.points], EDGE, width - EDGE, ticks=6)
    surface.strokes([(at, 0, at, bottom) for at, _ in scale.ticks], "rule", 1)
    surface.strokes([(0, step * number, width, step * number) for number in range(1, len(rows))], "rule", 1)
    for one in figure.series:
        y = step * rows.index(one.label) + LINE + 8
        style, size = (6, 4.0) if one.part == "published" else (0, 4.5 if one.part == "mean" else 2.6)
        group = "ink" if one.part == "published" else "s1"
        x = scale.all(one.x)
        surface.marks(x, [y] * len(x), group, styles.mark(style), size, hollow=one.part == "seed")
    for number, row in enumerate(rows):
        surface.text(0, step * number + 13, shortened(row, width), "halo")
    across(surface, scale, figure.x, bottom, 0, width)
    legend(surface, entries, top)
    return surface


DRAWINGS: Mapping[Kind, Callable[[Figure, float], Surface]] = {
    "curves": _curves,
    "points": _points,
    "histogram": _histogram,
    "rows": _rows,
    "cost": _cost,
}


def _with_legend(
    figure: Figure, width: float, entries: Sequence[Entry], more: Sequence[Entry] = ()
) -> tuple[Surface, Frame]:
    """Axes around all points and bounds, and what stands below."""
    bottom = TOP + HEIGHT
    heights = [legend_height(some, width) for some in (entries, more)]
    surface = Surface(width, bottom + FOOT + sum(heights))
    xs = [x for one in figure.series for x, _ in one.points]
    ys = [y for one in figure.series for _, y in one.points]
    ys += [value for one in figure.series for value in (*one.low, *one.high) if _finite(value)]
    frame = framed(surface, figure.x, figure.y, xs, ys, TOP, bottom)
    legend(surface, entries, bottom + FOOT)
    legend(surface, more, bottom + FOOT + heights[0])
    return surface, frame


def _numbers(series: Sequence[Trace]) -> dict[str, int]:
    """By label, if there are too many for styles alone."""
    return {one.label: number for number, one in enumerate(series, 1)} if len(series) > MOST_STYLES else {}


def _number(surface: Surface, frame: Frame, series: Sequence[Trace], numbers: Mapping[str, int]) -> None:
    """Numbers beside the last point of each."""
    if numbers:
        ends = [one.points[-1] for one in series]
        places = [(frame.x.at(x), frame.y.at(y)) for x, y in ends]
        numbered(surface, places, [str(numbers[one.label]) for one in series], frame)


def _finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _stairs(front: Sequence[tuple[float, float]], figure: Figure) -> list[tuple[float, float]]:
    """The best quality that can be had for so much, from the cheapest on."""
    corners: list[tuple[float, float]] = []
    for x, y in sorted(front):
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    dearest = max(x for one in figure.series for x, _ in one.points)
    return [*corners, (dearest, corners[-1][1])] if corners and corners[-1][0] < dearest else corners
