"""A scale: from values to places, with few round ticks and their labels."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from benchsuite.report.figures.model import Axis

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
