"""What figures of all kinds share: scales around the data, numbers beside points, a legend below."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from benchsuite.report.figures.canvas import QUIET, RULE, Canvas, Point, fitted, segments
from benchsuite.report.figures.model import Axis, Figure

WIDTH = 400
"""In 1/72 inch, as all lengths: on a telephone, where it becomes 348 pixels, ticks are still 9 pixels high."""
SIDE, LEFT, TOP, HEIGHT, FOOT = 16, 48, 28, 220, 40
"""Room at the sides, left of an upright axis, above the data, for the data, and below them for the axis."""
LINE, LETTERS = 18, 60
"""A line of text: its height, and how many letters fit into the whole width."""
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
LARGE = 1e4
MINUS = "−"
SAME = 1e-6
"""Values that differ by less, relative to their size, are a level line and not noise as high as the figure."""


@dataclass(frozen=True)
class Scale:
    """A range of values between two places."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, axis: Axis, values: Iterable[float], start: float, end: float, room: float) -> Self:
        """Over the finite values, with room at both ends."""
        finite = [value for value in values if math.isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
        if axis.log:
            more = (high / low) ** room
            low, high = (low / more, high * more) if high > low else (low / 2, high * 2)
        elif axis.whole and high - low < 1:
            low, high = low - 1, high + 1
        elif high - low <= SAME * max(abs(low), abs(high)):
            more = abs(high) / 10 or 0.05
            low, high = low - more, high + more
        else:
            low, high = low - room * (high - low), high + room * (high - low)
        return cls(axis, low, high, start, end)

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.axis.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.start + (self.end - self.start) * (value - low) / (high - low)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Places and labels, at most so many steps."""
        return [(self.at(value), self._label(value, most)) for value in self.round_values(most)]

    def round_values(self, most: int) -> list[float]:
        """Multiples of a round step, at most so many steps; powers on a logarithmic axis."""
        if self.axis.log:
            return self._powers(most)
        step = self._step(most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def _step(self, most: int) -> float:
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * size for size in STEPS if power * size >= rough * (1 - 1e-9))
        return max(1.0, step if step == round(step) else 2 * step) if self.axis.whole else step

    def _powers(self, most: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        sizes = (1,) if self.high > 100 * self.low else (1, 2, 5)
        apart = math.ceil((last - first) / most) if len(sizes) == 1 else 1
        values = [size * 10.0**power for power in range(first, last + 1, apart) for size in sizes]
        return [value for value in values if self.low <= value <= self.high]

    def _label(self, value: float, most: int) -> str:
        factor = 100 if self.axis.percent else 1
        if self.axis.log:
            shown = f"{factor * value:g}"
        elif self.axis.whole or max(abs(self.low), abs(self.high)) >= LARGE:
            size, letter = next(((size, letter) for size, letter in PREFIXES if abs(value) >= size), (1.0, ""))
            shown = f"{value / size:g}{letter}"
        else:
            shown = f"{factor * value:z.{_digits(factor * self._step(most))}f}"
        return shown.replace("-", MINUS) + "%" * self.axis.percent


def _digits(step: float) -> int:
    """Decimals of the multiples of a step."""
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    grid = 10.0**digits
    return digits + (abs(step * grid - round(step * grid)) > 1e-6)


Sample = Callable[[Canvas, float, float], None]
"""Draws a sample of what a legend names, from a place to the right, about a height."""
Drawn = tuple[float, float, Sequence[tuple[str, Sample]]]
"""The width and height of a drawing without its legend, and what the legend names."""
RINGS = (11, 22, 33, 44, 55)
"""Distances of a number from its point: the nearest that is free is taken."""
DIGIT, POINT = (8, 12), 10
"""Sizes."""


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

    def drawn(self, legend: Sequence[tuple[str, Sample]] = ()) -> Drawn:
        return WIDTH, TOP + HEIGHT + FOOT, legend


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


def draw_legend(canvas: Canvas, width: float, height: float, legend: Sequence[tuple[str, Sample]]) -> float:
    """Samples with their names below a drawing; the height of the whole."""
    names, top = [name for name, _ in legend], height
    most = letters(width)
    columns = max(1, most // (max(map(len, names), default=0) + 7))
    for first in range(0, len(names), columns):
        lines = [fitted(name, most - 7, lines=2).split("\n") for name in names[first : first + columns]]
        for column, text in enumerate(lines):
            left = width * column / columns
            legend[first + column][1](canvas, left, top + 8)
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
