"""A figure as SVG for a page: its colours and its font are the page's, and it is as wide as there is room.

Pages have hundreds: lines are as short as they can be, one place and then steps from each point to the next.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from markupsafe import escape

from benchsuite.canonical import short_digest
from benchsuite.harmless import spelled
from benchsuite.report.figures.canvas import COLOURS, PAPER, QUIET, Look, Point, runs
from benchsuite.report.figures.drawing import draw
from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.numbers import counted


def svg(figure: Figure) -> str:
    """The figure for a page with `static/figures.css`, named and described for those who cannot see it."""
    canvas = SvgCanvas(f"marks-{short_digest(figure.id)[:6]}")
    width, height = draw(figure, canvas)
    words = "".join(
        f"<{tag}>{escape(spelled(text))}</{tag}>" for tag, text in (("title", figure.title), ("desc", alt(figure)))
    )
    drawn = "".join(canvas.parts)
    return f'<svg class="chart sketch" role="img" viewBox="0 0 {width:g} {height:g}">{words}{drawn}</svg>'


class SvgCanvas:
    """Elements of SVG. By `static/figures.css` a path is quiet, 1 wide and not filled, unless it says so.

    What is shown again and again is referred to by a name, which is short and the figure's own in a page.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[str] = []

    def line(self, points: Sequence[Point], colour: str, width: float = 1, dash: Sequence[float] = ()) -> None:
        """A path; its round ends make a dot of a point alone."""
        if drawn := "".join(map(path, runs(points))):
            look = "" if colour == QUIET else f' stroke="{_named(colour)}"'
            look += "" if width == 1 else f' stroke-width="{width:g}"'
            look += f' stroke-dasharray="{" ".join(f"{part:g}" for part in dash)}"' if dash else ""
            self.parts.append(f'<path d="{drawn}"{look}/>')

    def area(self, points: Sequence[Point], colour: str, opacity: float) -> None:
        self.parts.append(f'<path d="{path(points)}z" fill="{_named(colour)}" stroke="none" opacity="{opacity:g}"/>')

    def marks(self, points: Sequence[Point], mark: str, colour: str, size: float, hollow: bool = False) -> None:
        """One path for all. A disc is a line without length: its ends are round. Of many others, only the first is
        written, to stand at each corner of a line that is not drawn, from left to right: such steps are short.
        """
        places = [(x, y) for x, y in points if math.isfinite(x + y)]
        if mark == "o" and not hollow:
            shape, look = "h0", f' stroke="{_named(colour)}" stroke-width="{size + 1.2:g}"'
        else:
            shape, fill = SHAPES[mark](size / 2), _named(PAPER if hollow else colour)
            look = f' fill="{fill}" stroke="{_named(colour)}" stroke-width="1.2"'
            if len(places) > FEW:
                name = f"{self.name}-{len(self.parts)}"
                one = f'<path d="M0 0{shape}"{look}/>'
                at = " ".join(f'marker-{end}="url(#{name})"' for end in ("start", "mid", "end"))
                self.parts += [
                    f'<marker id="{name}" markerUnits="userSpaceOnUse" overflow="visible">{one}</marker>',
                    f'<path d="{path(sorted(places))}" stroke="none" {at}/>',
                ]
                return
        if drawn := "".join(f"M{_short(x)} {_short(y)}{shape}" for x, y in places):
            self.parts.append(f'<path d="{drawn}"{look}/>')

    def text(self, x: float, y: float, text: str, *looks: Look) -> None:
        own = f' class="{" ".join(looks)}"' if looks else ""
        self.parts.append(f'<text x="{_short(x)}" y="{_short(y)}"{own}>{escape(spelled(text))}</text>')


def path(points: Sequence[Sequence[float]], decimals: int = 1) -> str:
    """Through the points; a point alone is a stroke without length, which round ends make a dot.

    Places are rounded, and steps are between rounded places: errors do not add up.
    """
    grid = 10**decimals
    places = [(round(x * grid), round(y * grid)) for x, y in points]
    steps = [number / grid for a, b in pairwise(places) for number in (b[0] - a[0], b[1] - a[1])]
    first = _joined([number / grid for number in places[0]])
    return f"M{first}l{_joined(steps)}" if steps else f"M{first}h0"


def _joined(numbers: Sequence[float]) -> str:
    """A minus parts numbers as a blank does; no 0 stands before a point."""
    text = f" {' '.join(f'{number:g}' for number in numbers)}"
    return text.replace(" 0.", " .").replace(" -0.", " -.").replace(" -", "-").lstrip()


def _named(colour: str) -> str:
    """A colour as pages and their dark form have it."""
    return f"var({COLOURS[colour]})"


def _short(value: float) -> str:
    return f"{value:z.1f}".removesuffix(".0")


def _polygon(corners: Iterable[Point], r: float) -> str:
    places = [(0.0, 0.0), *((x * r, y * r) for x, y in corners)]
    first, *others = (f"{_short(b[0] - a[0])} {_short(b[1] - a[1])}" for a, b in pairwise(places))
    return f"m{first}l{' '.join(others)}z"


PLUS = [
    (-0.33, -1), (0.33, -1), (0.33, -0.33), (1, -0.33), (1, 0.33), (0.33, 0.33), (0.33, 1), (-0.33, 1), (-0.33, 0.33),
    (-1, 0.33), (-1, -0.33), (-0.33, -0.33),
]  # fmt: skip
STAR = [
    (long * math.sin(turn), -long * math.cos(turn))
    for turn, long in ((math.pi * k / 5, 0.55 if k % 2 else 1.3) for k in range(10))
]
SHAPES: Mapping[str, Callable[[float], str]] = {
    "o": lambda r: f"m{_short(-r)} 0a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0z",
    "s": lambda r: _polygon([(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)], r),
    "^": lambda r: _polygon([(0, -1.1), (1, 0.9), (-1, 0.9)], r),
    "D": lambda r: _polygon([(0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)], r),
    "P": lambda r: _polygon(PLUS, r),
    "v": lambda r: _polygon([(0, 1.1), (1, -0.9), (-1, -0.9)], r),
    "X": lambda r: _polygon([((x - y) * 0.75, (x + y) * 0.75) for x, y in PLUS], r),
    "*": lambda r: _polygon(STAR, r),
}
"""Paths around a point, by mark."""
FEW = 8
"""So many marks are written one by one."""
MOST = 12
"""Of more rows, only the first and the last ones are listed."""
CHARTS = {"curves": ("Line chart", "line", "Last values"), "points": ("Scatter plot", "row", "Means")}
"""By kind: what it is, what is counted, and which values are listed."""


def alt(figure: Figure) -> str:
    """A few sentences from the data alone."""
    if any(trace.part == "trial" for trace in figure.series):
        return " ".join([f"Scatter plot. {_ranges(figure, figure.series)}", *_searches(figure)])
    (chart, noun, what), parts = CHARTS[figure.kind], ("mean", "published")
    means, published = ([trace for trace in figure.series if trace.part == part] for part in parts)
    ordered = sorted(means, key=lambda trace: (trace.points[-1][1], trace.label), reverse=True)
    order = ", from the highest" if len(means) > 1 else ""
    printed = f" Published: {_listed(figure, published)}." if published else ""
    first = f"{chart}, {counted(len(means), noun)}. {_ranges(figure, figure.series)}"
    return f"{first} {what}{order}: {_listed(figure, ordered)}.{printed}"


def _said(value: float, axis: Axis) -> str:
    return f"{100 * value:.1f}%" if axis.percent else f"{value:.3g}"


def _listed(figure: Figure, traces: Sequence[Trace]) -> str:
    """The last value of each, with the first or the place."""
    texts = []
    for trace in traces:
        (_, first), (x, last) = trace.points[0], trace.points[-1]
        where = f"(from {_said(first, figure.y)})" if len(trace.points) > 1 else f"at {_said(x, figure.x)}"
        texts.append(f"{trace.label} {_said(last, figure.y)} {where}")
    half = MOST // 2
    between = [f"then {len(texts) - MOST} between"] if len(texts) > MOST else []
    return ", ".join([*texts[:half], *between, *texts[-half:]] if between else texts)


def _searches(figure: Figure) -> Iterator[str]:
    """By label: how many trials there are, and where the best ones of the searches lie."""
    trials = {trace.label: len(trace.points) for trace in figure.series if trace.part == "trial"}
    for trace in figure.series:
        if trace.part == "best" and trace.points:
            best = f"the best of each search ({len(trace.points)} in all)"
            yield f"{trace.label}, {counted(trials[trace.label], 'trial')}; {best}: {_ranges(figure, [trace])}"


def _ranges(figure: Figure, traces: Sequence[Trace]) -> str:
    points = [point for trace in traces for point in trace.points]
    axes = zip((figure.x, figure.y), zip(*points, strict=True), strict=True)
    ends = ((axis, _said(min(values), axis), _said(max(values), axis)) for axis, values in axes)
    return "; ".join(f"{axis.name} from {a} to {b}{', logarithmic' if axis.log else ''}" for axis, a, b in ends) + "."
