"""What a figure shows, before it is drawn: its points, also as CSV, and its names."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, TypeVar

from benchsuite.analysis.stats import Paired
from benchsuite.harmless import csv_text

Kind = Literal["curves", "points"]
Part = Literal["seed", "mean", "published", "trial", "best"]


@dataclass(frozen=True)
class Axis:
    """A quantity. Values are fractions where it is shown in percent."""

    name: str
    percent: bool = False
    log: bool = False
    whole: bool = False
    """Whether there is nothing between 1 and 2."""


STEP = Axis("Training step", whole=True)


@dataclass(frozen=True)
class Trace:
    """A line, or points of one kind, in one style. Traces of one label belong together; NaN is no value."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    part: Part = "mean"
    """Single runs, their mean, the paper's number; trials of searches, and the best of each search."""
    style: int = 0
    """From 0: hue, dash and mark."""
    seeds: Sequence[int] = ()
    """Whose: one for a line, one a point; none for what is over several."""

    @property
    def points(self) -> list[tuple[float, float]]:
        """Those that have a value."""
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if not math.isnan(y)]


@dataclass(frozen=True)
class Figure:
    """A figure. It has points: what would be empty is not made."""

    id: str
    """Unique on the site."""
    slug: str
    """Unique on its page."""
    kind: Kind
    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Trace]

    @property
    def csv(self) -> str:
        """The points as drawn, a line each; numbers as stored, so fractions and not percent."""
        head = ["series", "part", "seed", self.x.name, self.y.name]
        lines = ([trace.label, trace.part, seed, *point] for trace in self.series for seed, *point in _lines(trace))
        return csv_text([head, *lines])


@dataclass(frozen=True)
class Estimate:
    """A difference with what is known of it, in the unit of its ruler."""

    mean: float
    low: float | None = None
    high: float | None = None
    """Of an interval."""
    seeds: Sequence[float] = ()
    unconfirmable: float | None = None
    """Differences up to this size, to either side of zero, could not have been confirmed: the grey band."""
    kind: str = ""
    """A verdict, which gives the colour."""

    @classmethod
    def of(cls, gains: Paired | None, unit: str, kind: str, unconfirmable: float | None = None) -> "Estimate | None":
        """Of gains, in points where the unit is percent; none where nothing was compared."""
        if gains is None or gains.difference is None:
            return None
        factor = 100.0 if unit == "percent" else 1.0
        numbers = (gains.difference, gains.low, gains.high, unconfirmable)
        mean, low, high, band = (None if number is None else factor * number for number in numbers)
        seeds = [factor * gain for gain in gains.differences] if gains.n > 1 else ()
        return cls(mean or 0.0, low, high, seeds, band, kind)

    @property
    def values(self) -> list[float]:
        """All that must lie on a ruler."""
        ends = [end for end in (self.low, self.high) if end is not None]
        band = [] if self.unconfirmable is None else [-self.unconfirmable, self.unconfirmable]
        return [self.mean, *self.seeds, *ends, *band]


@dataclass(frozen=True)
class Comparison:
    """A line of a forest plot in one of its columns, with all numbers in its unit; more is better."""

    heading: str
    """Above its first line."""
    label: str
    verdict: str
    unit: str
    estimate: Estimate | None
    """None where nothing is known."""
    seeds: int = 0
    published: float | None = None
    column: str = ""


@dataclass(frozen=True)
class Forest:
    """A forest plot: lines of one unit, each with a comparison, or with one for each column."""

    id: str
    slug: str
    title: str
    caption: str
    axis: str
    unit: str
    lines: Sequence[Sequence[Comparison]]

    @property
    def csv(self) -> str:
        """The comparisons, a line each, in the figure's unit: percent in points."""
        head = ["heading", "label", "column", "verdict", "gain", "low", "high", "unconfirmable", "published", "seeds"]
        lines = []
        for one in chain.from_iterable(self.lines):
            found = one.estimate
            numbers = (found.mean, found.low, found.high, found.unconfirmable) if found else (None,) * 4
            said = [one.heading, one.label, one.column, one.verdict]
            lines.append([*said, *map(_number, [*numbers, one.published]), str(one.seeds)])
        return csv_text([head, *lines])


F = TypeVar("F", bound=Figure | Forest)


def spoken(name: str) -> str:
    """A curve's name as an axis has it; symbols such as `i2t` are no words, and keep their letters."""
    words = "learning rate" if name == "lr" else name.replace("_", " ").strip() or name
    first = words.split(" ", 1)[0]
    return words[:1].upper() + words[1:] if len(first) > 2 and first.isalpha() else words


def slug(text: str) -> str:
    """Text as part of a file name or an id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "figure"


def distinct(figures: Sequence[F]) -> list[F]:
    """Figures of one page; those whose names would be the same have a number after them."""
    by_slug: dict[str, F] = {}
    for figure in figures:
        number, name = 1, figure.slug
        while name in by_slug:
            number += 1
            name = f"{figure.slug}-{number}"
        by_slug[name] = figure if number == 1 else replace(figure, id=f"{figure.id}-{number}", slug=name)
    return list(by_slug.values())


def _lines(trace: Trace) -> Iterator[tuple[str, ...]]:
    """The seed, and the numbers as text."""
    for number, point in enumerate(zip(trace.x, trace.y, strict=True)):
        seed = "" if not trace.seeds else str(trace.seeds[number if len(trace.seeds) == len(trace.x) else 0])
        yield seed, *map(_number, point)


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"
