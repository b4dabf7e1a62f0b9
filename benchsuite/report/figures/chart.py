"""What figures of all kinds share: scales around the data, numbers beside points, a legend below."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchsuite.report.figures.canvas import (
    FOOT,
    HEIGHT,
    LEFT,
    LETTERS,
    LINE,
    QUIET,
    RULE,
    SIDE,
    TOP,
    WIDTH,
    Canvas,
    Point,
    fitted,
    segments,
)
from benchsuite.report.figures.model import Figure
from benchsuite.report.figures.scale import Scale

Sample = Callable[[Canvas, float, float], None]
"""Draws a sample of what a legend names, from a place to the right, about a height."""
RINGS = (11, 22, 33, 44, 55)
"""Distances of a number from its point: the nearest that is free is taken."""
DIGIT, POINT = (8, 12), 10
"""Sizes."""


@dataclass(frozen=True)
class Drawn:
    """The size of a drawing without its legend, and what the legend names."""

    width: float
    height: float
    legend: Sequence[tuple[str, Sample]]


@dataclass
class Chart:
    """Two axes, and what is drawn between them."""

    figure: Figure
    canvas: Canvas
    right: float = SIDE

    def __post_init__(self) -> None:
        traces, right, foot = self.figure.series, WIDTH - self.right, TOP + HEIGHT
        self.x = Scale.over(self.figure.x, [x for trace in traces for x in trace.x], LEFT, right, 0.02)
        values = [y for trace in traces for y in trace.y]
        self.y = Scale.over(self.figure.y, values, foot, TOP, 0.05)
        ticks = self.y.ticks(4)
        self.canvas.line(segments(((LEFT, place), (right, place)) for place, _ in ticks), RULE)
        for place, label in ticks:
            self.canvas.text(LEFT - 5, place + 4, label, "end")
        self.canvas.text(0, TOP - 10, fitted(self.figure.y.name, letters(WIDTH)), "word")
        draw_scale(self.canvas, self.x, foot, WIDTH)

    def places(self, x: Sequence[float], y: Sequence[float]) -> list[Point]:
        return [(self.x.at(a), self.y.at(b)) for a, b in zip(x, y, strict=True)]

    def numbers(self, places: Sequence[Point], numbers: Sequence[int]) -> None:
        """Each near its point, where it covers no other number and no point, if there is such a place."""
        taken = [(x, y, float(POINT), float(POINT)) for x, y in places]
        turns = [math.pi * quarter / 4 for quarter in range(8)]
        for (x, y), number in zip(places, numbers, strict=True):
            wide, high = DIGIT[0] * len(str(number)), DIGIT[1]
            around = [(x + r * math.cos(turn), y - r * math.sin(turn)) for r in RINGS for turn in turns]
            right, foot = WIDTH - high / 2, TOP + HEIGHT + 8
            inside = [(a, b) for a, b in around if LEFT - high < a < right and 8 < b < foot]
            at = min(inside, key=lambda place: sum(_meet((*place, wide, high), box) for box in taken))
            taken.append((*at, wide, high))
            self.canvas.text(at[0], at[1] + 4, str(number), "dark", "mid")

    def drawn(self, legend: Iterable[tuple[str, Sample]] = ()) -> Drawn:
        return Drawn(WIDTH, TOP + HEIGHT + FOOT, list(legend))


def draw_scale(canvas: Canvas, scale: Scale, foot: float, width: float, grid: bool = False) -> None:
    """An x axis below the data, perhaps with lines through them; the drawing is so wide."""
    ticks = scale.ticks(5)
    if grid:
        canvas.line(segments(((place, 0), (place, foot)) for place, _ in ticks), RULE)
    marks = [((place, foot), (place, foot + 3.5)) for place, _ in ticks]
    canvas.line(segments([*marks, ((scale.start, foot), (scale.end, foot))]), QUIET)
    for place, label in ticks:
        canvas.text(place, foot + 15, label, "mid")
    canvas.text(scale.end, foot + 31, fitted(scale.axis.name, letters(width)), "word", "end")


def draw_legend(canvas: Canvas, drawn: Drawn) -> float:
    """Samples with their names below a drawing; the height of the whole."""
    names, top = [name for name, _ in drawn.legend], drawn.height
    most = letters(drawn.width)
    columns = max(1, most // (max(map(len, names), default=0) + 7))
    for first in range(0, len(names), columns):
        lines = [fitted(name, most - 7, lines=2).split("\n") for name in names[first : first + columns]]
        for column, text in enumerate(lines):
            left = drawn.width * column / columns
            drawn.legend[first + column][1](canvas, left, top + 8)
            for row, line in enumerate(text):
                canvas.text(left + 38, top + 12 + 14 * row, line, "word")
        top += LINE + 14 * (max(map(len, lines)) - 1)
    return top + 8


def mark_sample(mark: str, colour: str, size: float, hollow: bool = False) -> Sample:
    """A mark alone."""
    return lambda canvas, x, y: canvas.marks([(x + 15.5, y)], mark, colour, size, hollow)


def area_sample(colour: str, opacity: float) -> Sample:
    """A filled box."""
    return lambda canvas, x, y: canvas.area([(x, y - 4), (x + 31, y - 4), (x + 31, y + 4), (x, y + 4)], colour, opacity)


def letters(width: float) -> int:
    """How many fit into a line."""
    return int(LETTERS * width / WIDTH)


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return abs(a[0] - b[0]) < (a[2] + b[2]) / 2 and abs(a[1] - b[1]) < (a[3] + b[3]) / 2
