"""What tuning draws: a method's own numbers and the learning rate, each from a random stream of its own.

The space comes from the fields' annotations and defaults, so it is the same for every method and needs no torch.
Switches are not drawn: booleans, counts, texts, lists, numbers that are 0 by default, shares that are 0 or 1.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchsuite.canonical import canonical
from benchsuite.cards import Card
from benchsuite.errors import UsageError
from benchsuite.planning.recipe import Tuning
from benchsuite.streams import numpy_stream

ATTEMPTS = 100
"""Draws of one trial that a method may refuse."""
DIGITS = 4
"""Significant digits of what is drawn: libraries of mathematics differ in the last ones."""
LEARNING_RATE = "learning rate"
"""Name of its stream; no field can have it."""


@dataclass(frozen=True)
class Coordinate:
    """A number to be drawn: log-uniform in its size, or in its odds p / (1 - p) if it is a share."""

    name: str
    low: float
    high: float
    """Of the size or the odds."""
    sign: float = 1.0
    share: bool = False

    def at(self, u: float) -> float:
        """The value at a point of [0, 1)."""
        size = float(f"{self.low * (self.high / self.low) ** u:.{DIGITS}g}")
        size = min(max(size, self.low), self.high)
        return size / (1 + size) if self.share else self.sign * size


class Draw(NamedTuple):
    """What one trial has of its own."""

    hyperparameters: dict[str, float]
    learning_rate: float


def space(card: Card, spread: float, fixed: Mapping[str, Any]) -> list[Coordinate]:
    """The numbers of a method that are drawn, in the order of its fields."""
    coordinates: list[Coordinate] = []
    for field in card.fields:
        if field.range is None or field.name in fixed or field.default is None:
            continue
        if not isinstance(field.default, int | float):
            raise UsageError(
                f"{card.name}: tuning needs a number as the default of {field.name}; it is {field.default}. Write one."
            )
        coordinates += _coordinate(field.name, float(field.default), *field.range, spread)
    return coordinates


def draws(card: Card, fixed: Mapping[str, Any], number: int, rule: Tuning, learning_rate: float) -> Iterator[Draw]:
    """What trial `number` tries, in turn, until the method refuses none of it.

    Each coordinate has its own stream, so that a field more changes no other's draws, and each trial its own, so that
    it is the same however many there are.
    """
    given = canonical(dict(fixed)).decode()

    def points(name: str) -> list[float]:
        return list(numpy_stream(number, "tuning", card.name, given, name).random(ATTEMPTS))

    coordinates = [(each, points(each.name)) for each in space(card, rule.spread, fixed)]
    rate = around(LEARNING_RATE, learning_rate, rule.learning_rate_spread).at(points(LEARNING_RATE)[0])
    for attempt in range(ATTEMPTS):
        yield Draw({each.name: each.at(at[attempt]) for each, at in coordinates}, rate)


def around(name: str, centre: float, spread: float) -> Coordinate:
    """A positive number between its centre divided and multiplied by the spread."""
    return Coordinate(name, centre / spread, centre * spread)


def _coordinate(name: str, default: float, low: float, high: float, spread: float) -> Iterator[Coordinate]:
    if low >= 0 and math.isclose(low, 0, abs_tol=1e-300) and math.isclose(high, 1):
        if 0 < default < 1:
            odds = default / (1 - default)
            yield Coordinate(name, odds / spread, odds * spread, share=True)
    elif default and math.isfinite(default):
        sign = math.copysign(1, default)
        least, most = sorted((sign * low, sign * high))
        size = abs(default)
        yield Coordinate(name, max(size / spread, least), min(size * spread, most), sign)
