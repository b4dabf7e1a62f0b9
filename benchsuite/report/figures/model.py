"""What a figure shows, before it is drawn: its points, also as CSV, and its names."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchsuite.harmless import csv_text

Kind = Literal["curves", "points", "forest"]
Part = Literal["seed", "mean", "published", "band"]


@dataclass(frozen=True)
class Axis:
    """A quantity. Values are fractions where it is shown in percent."""

    name: str
    percent: bool = False
    points: bool = False
    """Whether it is in percentage points."""
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
    """Single runs, their mean, the paper's number; in forest plots the band of differences that could not have
    been confirmed."""
    style: int = 0
    """From 0: hue, dash and mark."""
    seeds: Sequence[int] = ()
    """Whose: one for a line, one a point; none for what is over several."""
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    """Bounds of x in forest plots, if there are any."""
    panel: str = ""
    """In a forest plot the heading above its rows."""
    note: str = ""
    """What a forest plot says of the row: its verdict."""
    column: str = ""
    """In a forest plot with several columns, in which one it stands."""

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
        bounds = any(trace.low for trace in self.series)
        given = [name for name in ("panel", "column") if any(getattr(trace, name) for trace in self.series)]
        ends = ["low", "high"] if bounds else []
        head = [*given, "series", "part", "seed", self.x.name, self.y.name, *ends]
        lines = (
            [*(getattr(trace, name) for name in given), trace.label, trace.part, seed, *cells]
            for trace in self.series
            for seed, cells in _lines(trace, bounds)
        )
        return csv_text([head, *lines])


def spoken(name: str) -> str:
    """A curve's name as an axis has it; symbols such as `i2t` are no words, and keep their letters."""
    words = "learning rate" if name == "lr" else name.replace("_", " ").strip() or name
    first = words.split(" ", 1)[0]
    return words[:1].upper() + words[1:] if len(first) > 2 and first.isalpha() else words


def slug(text: str) -> str:
    """Text as part of a file name or an id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "figure"


def distinct(figures: Sequence[Figure]) -> list[Figure]:
    """Figures of one page; those whose names would be the same have a number after them."""
    by_slug: dict[str, Figure] = {}
    for figure in figures:
        number, name = 1, figure.slug
        while name in by_slug:
            number += 1
            name = f"{figure.slug}-{number}"
        by_slug[name] = figure if number == 1 else replace(figure, id=f"{figure.id}-{number}", slug=name)
    return list(by_slug.values())


def _lines(trace: Trace, bounds: bool) -> Iterator[tuple[str, list[str]]]:
    """The seed, and the numbers as text."""
    for number, point in enumerate(zip(trace.x, trace.y, strict=True)):
        seed = "" if not trace.seeds else str(trace.seeds[number if len(trace.seeds) == len(trace.x) else 0])
        ends = [trace.low[number], trace.high[number]] if trace.low else [math.nan, math.nan]
        yield seed, [_number(value) for value in (*point, *(ends if bounds else []))]


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"
