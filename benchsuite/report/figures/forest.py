"""Forest plots as strips, one for each row of a page's table: an interval, its seeds, and what they could not confirm.

A strip is SVG whose places are percentages of its width, so it is as wide as its cell and never scaled: marks stay
round and lines thin on a telephone too. Heights and radii are those of `static/figures.css`: a page has hundreds. All
strips of a table share a ruler, whose numbers stand in one strip of ticks.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from markupsafe import Markup, escape

from benchsuite.harmless import spelled

MARGIN = 3.0
"""Percent of the width that stay free at both ends: half a mark needs room."""
TICKS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST = 2
"""Ticks on each side of zero."""


@dataclass(frozen=True)
class Ruler:
    """A scale around zero, with round ticks. The unit of the values is that of whatever lies on it."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: Iterable[float]) -> Self:
        """Holds all of the values, and zero."""
        finite = [value for value in values if math.isfinite(value)]
        low, high = min([0.0, *finite]), max([0.0, *finite])
        if low == high:
            return cls(-1.0, 1.0, 1.0)
        rough = max(-low, high) / MOST
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * tick for tick in TICKS if power * tick >= rough * (1 - 1e-9))
        return cls(low, high, step)

    @property
    def ticks(self) -> list[float]:
        """From left to right; zero is one of them."""
        first, last = math.ceil(self.low / self.step - 1e-9), math.floor(self.high / self.step + 1e-9)
        return [number * self.step for number in range(first, last + 1)]

    def at(self, value: float) -> float:
        """Its place, in percent of the width; what lies beyond an end is at the end."""
        share = (value - self.low) / (self.high - self.low)
        return MARGIN + (100 - 2 * MARGIN) * min(1.0, max(0.0, share))


@dataclass(frozen=True)
class Estimate:
    """What one strip shows, in the ruler's unit."""

    mean: float
    low: float | None = None
    high: float | None = None
    """Of an interval."""
    seeds: Sequence[float] = ()
    unconfirmable: float | None = None
    """Differences up to this size, to either side of zero, could not have been confirmed: the grey band."""
    kind: str = ""
    """A verdict, which gives the colour."""

    @property
    def values(self) -> list[float]:
        """All that must lie on a ruler."""
        ends = [end for end in (self.low, self.high) if end is not None]
        band = [] if self.unconfirmable is None else [-self.unconfirmable, self.unconfirmable]
        return [self.mean, *self.seeds, *ends, *band]


def strip(ruler: Ruler, estimate: Estimate | None, words: str) -> Markup:
    """The estimate on its ruler; without one, the empty ruler. `words` say the same to those who cannot see it."""
    parts = [_zero(ruler)]
    if estimate:
        if (band := estimate.unconfirmable) is not None:
            parts.insert(0, _box("band", ruler, -band, band))
        parts += [f'<circle cx="{_place(ruler, seed)}"/>' for seed in estimate.seeds]
        if estimate.low is not None and estimate.high is not None:
            parts.append(_box("reach", ruler, estimate.low, estimate.high))
        parts.append(f'<circle class="mean" cx="{_place(ruler, estimate.mean)}"/>')
    return _svg(f"strip {estimate.kind.replace(' ', '-') if estimate else ''}".strip(), parts, words)


def bar(ruler: Ruler, value: float | None, words: str) -> Markup:
    """A single number as a bar from zero, such as a published difference; without one, the empty ruler."""
    parts = [_zero(ruler)]
    if value is not None:
        parts.insert(0, _box("given", ruler, min(0, value), max(0, value)))
    return _svg("strip", parts, words)


def ticks(ruler: Ruler, labels: Sequence[str]) -> Markup:
    """The ruler's numbers, which the caller has written in its unit: one label for each of its ticks."""
    parts = [
        f'<text x="{_place(ruler, tick)}" y="13">{escape(spelled(label))}</text>'
        for tick, label in zip(ruler.ticks, labels, strict=True)
    ]
    return _svg("strip ticks", parts, "")


def _svg(kind: str, parts: Iterable[str], words: str) -> Markup:
    said = f'role="img" aria-label="{escape(spelled(words))}"' if words else 'aria-hidden="true"'
    drawn = "".join(parts)
    return Markup(f'<svg class="{kind}" {said}>{drawn}</svg>')


def _zero(ruler: Ruler) -> str:
    return f'<rect class="zero" x="{_place(ruler, 0)}"/>'


def _box(kind: str, ruler: Ruler, low: float, high: float) -> str:
    """As wide as from one value to the other."""
    wide = ruler.at(high) - ruler.at(low)
    return f'<rect class="{kind}" x="{_place(ruler, low)}" width="{wide:.1f}%"/>'


def _place(ruler: Ruler, value: float) -> str:
    return f"{ruler.at(value):.1f}%"
