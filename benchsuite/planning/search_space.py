"""What a search draws: a method's own numbers and the learning rate, at points that all methods of a replicate share.

The space comes from the fields' annotations and defaults, so it is the same for every method and needs no torch.
Switches are not drawn: booleans, counts, texts, lists, numbers that are 0 by default, shares that are 0 or 1; nor is
what the decorator names as `unsearched`, such as a scale of the loss, which the optimizer cancels.

Temperatures have one centre, which every method draws from one range at the same places; its other temperatures are
drawn as ratios to it. Centre and learning rate follow an additive recurrence (the R2 sequence, shifted by the
replicate): few trials cover their square evenly, so that less is owed to the luck of a search.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from benchsuite.canonical import alike, canonical
from benchsuite.cards import Card, FieldCard
from benchsuite.errors import UnknownError, UsageError
from benchsuite.papers import Row, Table
from benchsuite.papers.schema import TablePart
from benchsuite.planning.recipe import Tuning
from benchsuite.records.requests import Regime
from benchsuite.registry import methods
from benchsuite.streams import numpy_stream

ATTEMPTS = 100
"""Draws of one trial that a method may refuse."""
DIGITS = 4
"""Significant digits of what is drawn: libraries of mathematics differ in the last ones."""
CENTRE = "temperature"
LEARNING_RATE = "learning rate"
"""Names of streams that all methods share; no field can have them."""
STEPS = {CENTRE: 0.7548776662466927, LEARNING_RATE: 0.5698402909980532}
"""Of the recurrence in two dimensions: 1/g and 1/g^2, of the g with g^3 = g + 1."""
TEMPERATURES = (0.005, 0.5)
"""Range of the centre, of every method."""


@dataclass(frozen=True)
class Coordinate:
    """A number to be drawn: log-uniform in its size, or in its odds p / (1 - p) if it is a share."""

    name: str
    low: float
    high: float
    """Of the size or the odds, or of the ratio."""
    sign: float = 1.0
    share: bool = False
    stream: str = ""
    """Whose points it takes, if not its own."""
    times: str = ""
    """The field that it is a ratio to."""

    def at(self, u: float, centre: float = 1.0) -> float:
        """The value at a point of [0, 1)."""
        size = min(max(_short(self.low * (self.high / self.low) ** u), self.low), self.high)
        return size / (1 + size) if self.share else self.sign * (_short(size * centre) if self.times else size)

    @property
    def words(self) -> str:
        """Its ends: `0.005 to 0.5`, or of a ratio `0.5 to 32 times tau`."""
        low, high = sorted(map(self.at, (0.0, 1.0)))
        return f"{low:.4g} to {high:.4g}{f' times {self.times}' if self.times else ''}"


class Draw(NamedTuple):
    """What one trial has of its own."""

    hyperparameters: dict[str, float]
    learning_rate: float


def space(card: Card, spread: float, fixed: Mapping[str, Any]) -> list[Coordinate]:
    """The numbers of a method that are drawn, in the order of its fields but for the centre, which comes first."""
    left = {*fixed, *card.about.get("unsearched", ())}
    drawn = [field for field in card.fields if field.range and field.name not in left and field.default is not None]
    for field in drawn:
        if not isinstance(field.default, int | float):
            raise UsageError(
                f"{card.name}: tuning needs a number as the default of {field.name}; it is {field.default}. Write one."
            )
    centre = centre_of(card)
    coordinates = [each for field in drawn for each in _coordinate(field, centre, spread)]
    return sorted(coordinates, key=lambda each: each.stream != CENTRE)


def ranges(card: Card) -> dict[str, str]:
    """What a search draws of each number where a table fixes none, in words; none if the method cannot be searched.

    At the usual spread; a method may refuse some of it.
    """
    try:
        return {each.name: each.words for each in space(card, Tuning.model_fields["spread"].default, {})}
    except UsageError:
        return {}


def centre_of(card: Card) -> FieldCard | None:
    """The temperature around which a method's others are drawn: the decorator's `centre`, else the first field."""
    fields = [field for field in card.fields if is_temperature(field) and field.default]
    if (named := card.about.get("centre")) is None:
        return next(iter(fields), None)
    if named not in (known := {field.name: field for field in fields}):
        raise UnknownError("temperature", str(named), known, f"{card.name}, centre: ")
    return known[named]


def is_temperature(field: FieldCard) -> bool:
    """Whether a field is a temperature."""
    return field.range is not None and "a temperature" in field.words


def draws(
    card: Card,
    fixed: Mapping[str, Any],
    number: int,
    replicate: int,
    rule: Tuning,
    learning_rate: float,
    factor: float = 1.0,
    rate_alone: bool = False,
) -> Iterator[Draw]:
    """What trial `number` of a replicate tries, in turn, until the method refuses none of it.

    Each coordinate has its own stream, so that a field more changes no other's draws, and each trial its own, so that
    it is the same however many there are. Where a draw is refused, centre and learning rate stay. A temperature that
    is fixed is multiplied by the recipe's factor.
    """
    rate = around(LEARNING_RATE, learning_rate, rule.learning_rate_spread).at(shared(LEARNING_RATE, number, replicate))
    if rate_alone:
        yield Draw({}, rate)
        return
    coordinates, centre = space(card, rule.spread, fixed), centre_of(card)
    points = {each.name: numpy_stream(number, "search", replicate, each.name).random(ATTEMPTS) for each in coordinates}
    given = {centre.name: factor * fixed.get(centre.name, centre.default)} if centre else {}
    for attempt in range(ATTEMPTS):
        values: dict[str, float] = {}
        for each in coordinates:  # the centre first, if it is drawn
            u = shared(CENTRE, number, replicate) if each.stream else float(points[each.name][attempt])
            values[each.name] = each.at(u, {**given, **values}[each.times] if each.times else 1.0)
        yield Draw(values, rate)


def shared(stream: str, number: int, replicate: int) -> float:
    """The point of trial `number` in [0, 1), the same for all methods of a replicate."""
    return (_start(stream, replicate) + number * STEPS[stream]) % 1


@lru_cache(maxsize=1024)
def _start(stream: str, replicate: int) -> float:
    return numpy_stream(replicate, "search", stream).random()


def around(name: str, centre: float, spread: float) -> Coordinate:
    """A positive number between its centre divided and multiplied by the spread."""
    return Coordinate(name, centre / spread, centre * spread)


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _coordinate(field: FieldCard, centre: FieldCard | None, spread: float) -> Iterator[Coordinate]:
    assert field.range is not None
    name, default, (low, high) = field.name, float(field.default), field.range
    if centre and field is centre:
        yield Coordinate(name, max(TEMPERATURES[0], low), min(TEMPERATURES[1], high), stream=CENTRE)
    elif centre and default > 0 and is_temperature(field):
        ratio = default / float(centre.default)
        yield Coordinate(name, ratio / spread, ratio * spread, times=centre.name)
    elif low >= 0 and math.isclose(low, 0, abs_tol=1e-300) and math.isclose(high, 1):
        if 0 < default < 1:
            odds = default / (1 - default)
            yield Coordinate(name, odds / spread, odds * spread, share=True)
    elif default and math.isfinite(default):
        sign = math.copysign(1, default)
        least, most = sorted((sign * low, sign * high))
        size = abs(default)
        yield Coordinate(name, max(size / spread, least), min(size * spread, most), sign)


def complete(card: Card, given: Mapping[str, Any]) -> dict[str, Any]:
    """A method's hyper-parameters: defaults where none is given, and whole numbers as such where any may stand."""
    numbers = {field.name for field in card.fields if field.range}
    whole = {**{field.name: field.default for field in card.fields}, **given}
    return {name: float(value) if name in numbers and type(value) is int else value for name, value in whole.items()}


def varied(table: Table, method: str) -> set[str]:
    """Hyper-parameters in which the table's rows of one method differ, defaults where a row gives none."""
    card = methods.card(method)
    rows = [complete(card, row.hyperparameters) for row in table.rows if row.method == method]
    return {name for name in (rows[0] if rows else ()) if len({canonical(row.get(name)) for row in rows}) > 1}


def fixed_by(table: Table, row: Row, part: TablePart, rule: Tuning, regime: Regime) -> dict[str, Any]:
    """What a row's search does not draw and is not the default: as printed, all; tuned, what the table is about.

    That is: what cannot be drawn, what differs between the table's rows of the method unless its file says to search
    it, what the file says to print, and what the part gives.
    """
    assert row.method is not None
    card = methods.card(row.method)
    defaults = complete(card, {})
    kept = (varied(table, row.method) - {*table.searched}) | {*table.printed, *part.hyperparameters}
    could = {coordinate.name for coordinate in space(card, rule.spread, {})}
    drawn = could - kept if regime == "tuned" else set()
    about = {
        name: value
        for name, value in complete(card, row.options(part)).items()
        if name not in drawn and (name in kept & could or not alike(value, defaults.get(name)))
    }
    return dict(json.loads(json.dumps(about)))
