"""Figures of pages as SVG by hand: curves, points, costs and the panels of tuning; `stack.py` has those of rows.

They look as `draw.py` draws them for papers; matplotlib takes some 30 ms a figure, most of it for ticks and axes.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from benchsuite.report.figures.ink import Ink, Point, dash_of, hue_of
from benchsuite.report.figures.model import Figure, Trace
from benchsuite.report.figures.ruler import Rule
from benchsuite.report.figures.style import (
    BEHIND,
    DIGIT,
    FOOT,
    HEIGHT,
    HUES,
    INK,
    LEFT,
    LETTERS,
    LINE,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    POINT,
    QUIET,
    RINGS,
    RULE,
    SIDE,
    TOP,
    WIDTH,
)
from benchsuite.report.figures.words import fitted

Handle = Callable[[Ink, float, float], None]
"""Draws a sample of a series, from a place to the right, about a height."""
REFERENCE = (4, 2)


@dataclass(frozen=True)
class Mark:
    """A mark's look, and the sample of it in a legend."""

    mark: str
    colour: str
    size: float
    hollow: bool = False

    def at(self, ink: Ink, places: Sequence[Point]) -> None:
        """One at each place."""
        ink.marks(places, self.mark, self.colour, self.size, self.hollow)

    def __call__(self, ink: Ink, x: float, y: float) -> None:
        """The sample."""
        self.at(ink, [(x + 15.5, y)])


@dataclass
class Sketch:
    """A drawing with its two axes."""

    figure: Figure
    width: float = WIDTH
    height: float = HEIGHT
    right: float = SIDE
    room: float = 0.02
    """Around the data, as a share of the x axis."""
    ink: Ink = field(default_factory=Ink)

    def __post_init__(self) -> None:
        traces = self.figure.series
        ends = [[*trace.y, *trace.low, *trace.high] for trace in traces]
        self.x = Rule.over(self.figure.x, _all(trace.x for trace in traces), LEFT, self.width - self.right, self.room)
        self.y = Rule.over(self.figure.y, _all(ends), TOP + self.height, TOP, 0.05)
        self._axes()

    def points(self, x: Sequence[float], y: Sequence[float]) -> list[Point]:
        """Places of points; what leaves stated ends stays at the end."""
        low, high = self.figure.y.ends or (-math.inf, math.inf)
        return [(self.x.at(a), self.y.at(min(max(b, low), high) if b == b else b)) for a, b in zip(x, y, strict=True)]

    def _axes(self) -> None:
        left, right, foot = LEFT, self.width - self.right, TOP + self.height
        across, along = self.y.ticks(4), self.x.ticks(5)
        self.ink.strokes([((left, place), (right, place)) for place, _ in across], RULE, 1)
        marks = [((place, foot), (place, foot + 3.5)) for place, _ in along]
        self.ink.strokes([*marks, ((left, foot), (right, foot))], QUIET, 1)
        for place, label in across:
            self.ink.text(left - 5, place + 4, label, "end")
        for place, label in along:
            self.ink.text(place, foot + 15, label, "mid")
        letters = int(LETTERS * self.width / WIDTH)
        self.ink.text(right, foot + 31, fitted(self.figure.x.name, letters), "word", "end")
        self.ink.text(0, TOP - 10, fitted(self.figure.y.name, letters), "word")

    def legend(self, names: Sequence[tuple[str, Handle]]) -> str:
        """Samples with their names; the drawing is then done."""
        return finished(self.ink, self.width, TOP + self.height + FOOT, names)

    def numbers(self, places: Sequence[Point], numbers: Sequence[int]) -> None:
        """Each near its point, where it covers no other number and no point, if there is such a place."""
        taken = [(x, y, float(POINT), float(POINT)) for x, y in places]
        turns = [math.pi * quarter / 4 for quarter in range(8)]
        for (x, y), number in zip(places, numbers, strict=True):
            wide, high = DIGIT[0] * len(str(number)), DIGIT[1]
            around = [(x + r * math.cos(turn), y - r * math.sin(turn)) for r in RINGS for turn in turns]
            inside = [
                (a, b) for a, b in around if LEFT - high < a < self.width - high / 2 and 8 < b < TOP + self.height + 8
            ]
            at = min(inside, key=lambda place: sum(_meet((*place, wide, high), box) for box in taken))
            taken.append((*at, wide, high))
            self.ink.text(at[0], at[1] + 4, str(number), "dark", "mid")


def finished(ink: Ink, width: float, top: float, names: Sequence[tuple[str, Handle]]) -> str:
    """Samples with their names from a height downwards; then everything of the SVG after its name, `viewBox` first."""
    letters = int(LETTERS * width / WIDTH)
    columns = max(1, letters // (max((len(name) for name, _ in names), default=0) + 7))
    for first in range(0, len(names), columns):
        lines = [fitted(name, letters - 7, lines=2).split("\n") for name, _ in names[first : first + columns]]
        for number, ((_, handle), text) in enumerate(zip(names[first : first + columns], lines, strict=True)):
            at = width * number / columns
            handle(ink, at, top + 8)
            for row, line in enumerate(text):
                ink.text(at + 38, top + 12 + 14 * row, line, "word")
        top += LINE + 14 * (max(map(len, lines)) - 1)
    return f'viewBox="0 0 {width:g} {top + 8:g}">{"".join(ink.parts)}'


def curves(figure: Figure) -> str:
    """A line for each mean, thin ones for single seeds, bands between bounds."""
    means = [trace for trace in figure.series if trace.part == "mean"]
    numbered = len(means) > len(HUES)
    sketch = Sketch(figure, right=SIDE + BEHIND[-1][0] if numbered else SIDE)
    ink = sketch.ink
    for trace in figure.series:
        if trace.low:
            ink.band(sketch.points(trace.x, trace.low), sketch.points(trace.x, trace.high), hue_of(trace.style))
        if trace.part == "seed":
            ink.line(sketch.points(trace.x, trace.y), hue_of(trace.style), 0.75)
    for number, trace in enumerate(means):
        places = sketch.points(trace.x, trace.y)
        ink.line(places, hue_of(trace.style), 2.2, dash_of(trace.style))
        apart = max(1, len(places) // 5)
        first = apart * number // len(means) + apart // 2 if len(places) > 1 else 0
        ink.style(places[first::apart] if len(means) > 1 else _alone(places), trace.style, 7)
    if numbered:
        ends = sorted((sketch.points(*zip(trace.points[-1], strict=True))[0], n) for n, trace in enumerate(means, 1))
        for order, ((x, y), number) in enumerate(sorted(ends, key=lambda end: end[0][1])):
            ink.text(x + BEHIND[order % len(BEHIND)][0], y + 4, str(number), "dark", "mid")
    names = [(f"{n} {trace.label}" if numbered else trace.label, _line(trace)) for n, trace in enumerate(means, 1)]
    return sketch.legend(names if len(means) > 1 else [])


def cost(figure: Figure) -> str:
    """Points with their intervals, and the front as stairs; each has its row's number, which the page names."""
    sketch = Sketch(figure)
    looks = (("mean", QUIET, "s", 7.0), ("front", HUES[0], "o", 8.0))
    for part, colour, mark, size in looks:
        traces = sorted((trace for trace in figure.series if trace.part == part), key=lambda trace: trace.points)
        bars = [sketch.points([one.x[0]] * 2, [one.low[0], one.high[0]]) for one in traces if one.low]
        sketch.ink.strokes(bars, colour, 1.2)
        x, y = [trace.x[0] for trace in traces], [trace.y[0] for trace in traces]
        if part == "front":
            dearest = max(trace.x[0] for trace in figure.series)
            ends = [*x[1:], dearest]
            stairs = [place for a, b, end in zip(x, y, ends, strict=True) for place in ((a, b), (end, b))]
            sketch.ink.line(sketch.points(*zip(*stairs, strict=True)), colour, 1.5)
        sketch.ink.marks(sketch.points(x, y), mark, colour, size, hollow=part == "mean")
    order = sorted(figure.series, key=lambda trace: trace.style)
    numbers = [trace.style + 1 for trace in order]
    sketch.numbers([sketch.points(trace.x[:1], trace.y[:1])[0] for trace in order], numbers)
    names = [("on the Pareto front", Mark("o", HUES[0], 8)), ("not on it", Mark("s", QUIET, 7, hollow=True))]
    return sketch.legend(names)


def points(figure: Figure) -> str:
    """A mark for each mean, hollow ones for single seeds and for what the paper has."""
    means = [trace for trace in figure.series if trace.part == "mean"]
    published = [trace for trace in figure.series if trace.part == "published"]
    sketch = Sketch(figure)
    for trace in figure.series:
        if trace.part == "seed":
            sketch.ink.style(sketch.points(trace.x, trace.y), trace.style, 4.5, hollow=True)
    for traces, size in ((means, 8.0), (published, 9.0)):
        for trace in traces:
            sketch.ink.style(sketch.points(trace.x, trace.y), trace.style, size, hollow=traces is published)
    numbers = {trace.label: number for number, trace in enumerate(means, 1)} if len(means) > len(HUES) else {}
    if numbers:
        ends = [
            (sketch.points(*zip(trace.points[-1], strict=True))[0], numbers[trace.label])
            for trace in (*means, *published)
        ]
        sketch.numbers(*zip(*ends, strict=True))
    names = [(f"{numbers[trace.label]} {trace.label}" if numbers else trace.label, _sample(trace)) for trace in means]
    return sketch.legend(names)


def tuning(figure: Figure) -> str:
    """A median with its band, beside the reference's; pages say once for all panels which is which."""
    sketch = Sketch(figure, PANEL_WIDTH, PANEL_HEIGHT)
    for trace in figure.series:
        places = sketch.points(trace.x, trace.y)
        if trace.low:
            sketch.ink.band(sketch.points(trace.x, trace.low), sketch.points(trace.x, trace.high), HUES[0])
        if trace.part == "reference":
            sketch.ink.line(places, QUIET, 1.6, REFERENCE)
        else:
            sketch.ink.line(places, HUES[0], 2.4)
    return sketch.legend([])


def sensitivity(figure: Figure) -> str:
    """Each trial's score at one of its drawn values; failed ones stand on the floor. Pages say once what marks are."""
    sketch = Sketch(figure, PANEL_WIDTH, PANEL_HEIGHT, room=0.06)
    floor, _ = figure.y.ends or (0.0, 1.0)
    looks = {"trial": ("o", HUES[0], 6.0), "chosen": ("D", HUES[1], 9.0), "failed": ("x", INK, 7.0)}
    for trace in sorted(figure.series, key=lambda trace: trace.part != "default"):
        if trace.part == "default":
            x = sketch.x.at(trace.x[0])
            sketch.ink.line([(x, TOP), (x, TOP + PANEL_HEIGHT)], QUIET, 1.4, REFERENCE)
        else:
            y = [floor] * len(trace.x) if trace.part == "failed" else trace.y
            mark, colour, size = looks[trace.part]
            sketch.ink.marks(sketch.points(trace.x, y), mark, colour, size)
    return sketch.legend([])


def _line(trace: Trace) -> Handle:
    def handle(ink: Ink, x: float, y: float) -> None:
        ink.line([(x, y), (x + 31, y)], hue_of(trace.style), 2.2, dash_of(trace.style))
        ink.style([(x + 15.5, y)], trace.style, 7)

    return handle


def _sample(trace: Trace) -> Handle:
    return lambda ink, x, y: ink.style([(x + 15.5, y)], trace.style, 8)


def _alone(places: Sequence[Point]) -> list[Point]:
    """Points between gaps, of which a line shows next to nothing."""
    there = [False, *(math.isfinite(y) for _, y in places), False]
    return [place for n, place in enumerate(places, 1) if there[n] and not there[n - 1] and not there[n + 1]]


def _all(parts: Iterable[Sequence[float]]) -> list[float]:
    return [value for part in parts for value in part]


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return abs(a[0] - b[0]) < (a[2] + b[2]) / 2 and abs(a[1] - b[1]) < (a[3] + b[3]) / 2
