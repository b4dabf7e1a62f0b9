"""A figure as SVG for a page: its colours and its font are the page's, and it is as wide as there is room."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.model import Figure, Kind
from benchsuite.report.figures.sketch import cost, curves, points, sensitivity, tuning
from benchsuite.report.figures.stack import histogram, rows
from benchsuite.report.figures.words import alt

SKETCHED: Mapping[Kind, Callable[[Figure], str]] = {
    "curves": curves,
    "points": points,
    "histogram": histogram,
    "rows": rows,
    "cost": cost,
    "tuning": tuning,
    "sensitivity": sensitivity,
}
"""Kinds that pages have. Forests are tables there, with strips."""


def svg(figure: Figure) -> str:
    """The figure for a page with `static/figures.css`."""
    words = "".join(f"<{tag}>{escape(spelled(text))}</{tag}>" for tag, text in _words(figure))
    box, _, drawn = SKETCHED[figure.kind](figure).partition(">")
    return f'<svg class="chart sketch" role="img" {box}>{words}{drawn}</svg>'


def _words(figure: Figure) -> Sequence[tuple[str, str]]:
    """For those who cannot see it: browsers take them as its name and its description."""
    return (("title", figure.title), ("desc", alt(figure)))
