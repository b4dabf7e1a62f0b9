"""Forest plots as strips, one for each row of a page's table: an interval, its seeds, and what they could not confirm.

A strip is SVG whose places are percentages of its width, so it is as wide as its cell and never scaled: marks stay
round and lines thin on a telephone too. Heights and radii are those of `static/figures.css`: a page has hundreds. All
strips of a table share a ruler, whose numbers stand in one strip of ticks.
"""

from collections.abc import Iterable

from markupsafe import Markup, escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.chart import Scale
from benchsuite.report.figures.model import Axis, Estimate
from benchsuite.report.numbers import tick

MARGIN = 3.0
"""Percent of the width that stay free at both ends: half a mark needs room."""
MOST_TICKS = 4
"""Steps between ticks, of which one is zero."""


def ruler(values: Iterable[float]) -> Scale:
    """For the strips of a table: it holds all of their values, and zero. Its unit is that of whatever lies on it."""
    return Scale.over(Axis(""), [0.0, *values], MARGIN, 100 - MARGIN, 0)


def strip(ruler: Scale, estimate: Estimate | None, words: str) -> Markup:
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


def bar(ruler: Scale, value: float | None, words: str) -> Markup:
    """A single number as a bar from zero, such as a published difference; without one, the empty ruler."""
    parts = [_zero(ruler)]
    if value is not None:
        parts.insert(0, _box("given", ruler, min(0, value), max(0, value)))
    return _svg("strip", parts, words)


def ticks(ruler: Scale, most: int = MOST_TICKS) -> Markup:
    """The ruler's round numbers, signed; in a narrow column fewer."""
    values = ruler.round_values(most)
    parts = [f'<text x="{_place(ruler, value)}" y="13">{tick(value)}</text>' for value in values]
    return _svg("strip ticks", parts, "")


def _svg(kind: str, parts: Iterable[str], words: str) -> Markup:
    said = f'role="img" aria-label="{escape(spelled(words))}"' if words else 'aria-hidden="true"'
    drawn = "".join(parts)
    return Markup(f'<svg class="{kind}" {said}>{drawn}</svg>')


def _zero(ruler: Scale) -> str:
    return f'<rect class="zero" x="{_place(ruler, 0)}"/>'


def _box(kind: str, ruler: Scale, low: float, high: float) -> str:
    """As wide as from one value to the other."""
    wide = ruler.at(high) - ruler.at(low)
    return f'<rect class="{kind}" x="{_place(ruler, low)}" width="{wide:.1f}%"/>'


def _place(ruler: Scale, value: float) -> str:
    return f"{ruler.at(value):.1f}%"
