"""What a figure shows, before it is drawn: its points, its words, and both as CSV."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from benchsuite.report.figures import words

Kind = Literal["curves", "points", "histogram", "rows", "cost"]
NAMES = {"lr": "learning rate"}
"""Of curves whose names are no words."""


@dataclass(frozen=True)
class Axis:
    """A quantity. Values are fractions where it is shown in percent."""

    name: str
    percent: bool = False
    log: bool = False
    whole: bool = False
    """Whether there is nothing between 1 and 2."""

    def shown(self, value: float) -> float:
        """A value in the unit of the axis."""
        return 100 * value if self.percent else value


STEP = Axis("Training step", whole=True)


@dataclass(frozen=True)
class Trace:
    """A line, or points of one kind, in one style. Traces of one label belong together; NaN is no value."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    part: Literal["seed", "mean", "published", "front"] = "mean"
    """Single runs, their mean, the paper's number; for costs, points on the front (others are means)."""
    style: int = 0
    """From 0: hue, dash and mark."""
    seeds: Sequence[int] = ()
    """Whose: one for a line, one a point; none for what is over several."""
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    """Bounds of y at each x, if there are any."""
    panel: str = ""
    """Where a figure has several: which."""

    @property
    def points(self) -> list[tuple[float, float]]:
        """Those that have a value."""
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if not math.isnan(y)]


@dataclass(frozen=True)
class Figure:
    """A figure. It has points: what would be empty is not made."""

    id: str
    """Unique on the site: ids in the drawing begin with it."""
    slug: str
    """Unique on its page."""
    kind: Kind
    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Trace]

    @property
    def alt(self) -> str:
        """What one would say who describes it to somebody who cannot see it."""
        return words.alt(self)

    @property
    def csv(self) -> str:
        """The points as drawn, a line each; numbers as stored, so fractions and not percent."""
        bounds = any(one.low for one in self.series)
        panels = any(one.panel for one in self.series)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(
            [*(["panel"] if panels else []), "series", "part", "seed", self.x.name, self.y.name]
            + (["low", "high"] if bounds else [])
        )
        for one in self.series:
            for seed, cells in _lines(one, bounds):
                writer.writerow([*([one.panel] if panels else []), one.label, one.part, seed, *cells])
        return text.getvalue()


def labels(series: Sequence[Trace]) -> list[str]:
    """Labels in the order of the legend."""
    return list(dict.fromkeys(one.label for one in series))


def spoken(name: str) -> str:
    """A curve's name as an axis has it."""
    said = NAMES.get(name, name.replace("_", " "))
    return said[:1].upper() + said[1:]


def slug(text: str) -> str:
    """Text as part of a file name or an id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "figure"


def unique(name: str) -> str:
    """As `slug`, but another one for another name."""
    short = slug(name)
    return short if short == name else f"{short[:40]}-{sha256(name.encode()).hexdigest()[:8]}"


def distinct(figures: Sequence[Figure]) -> list[Figure]:
    """Figures of one page; those whose names would be the same have a number after them."""
    found: dict[str, Figure] = {}
    for one in figures:
        number, name = 1, one.slug
        while name in found:
            number += 1
            name = f"{one.slug}-{number}"
        found[name] = one if number == 1 else replace(one, id=f"{one.id}-{number}", slug=name)
    return list(found.values())


def _lines(one: Trace, bounds: bool) -> Iterator[tuple[str, list[str]]]:
    for number, point in enumerate(zip(one.x, one.y, strict=True)):
        seed = "" if not one.seeds else str(one.seeds[number if len(one.seeds) == len(one.x) else 0])
        ends = [one.low[number], one.high[number]] if one.low else [math.nan, math.nan]
        yield seed, [_number(value) for value in (*point, *(ends if bounds else []))]


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.8g}"
