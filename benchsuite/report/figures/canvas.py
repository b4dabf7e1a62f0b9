"""What figures are drawn on: lines, areas, marks and text, in 1/72 inch from the upper left corner.

Pages and files have a canvas each (`inline_svg.py`, `saving.py`); where anything lies is decided once, before it.
"""

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from benchsuite.harmless import spelled

HUES = ("#108ac3", "#620d1e", "#7f8e12", "#6731b6", "#016654", "#d1608f", "#a77f56", "#222e5a")
INK, QUIET, RULE, PAPER = "#1b1f24", "#57606a", "#d0d7de", "#ffffff"
COLOURS = {hue: f"--series-{number}" for number, hue in enumerate(HUES, 1)}
COLOURS |= {INK: "--ink", QUIET: "--quiet", RULE: "--line", PAPER: "--paper"}
"""Those of the light theme, and their names in the style sheets of pages."""
DASHES = ((), (6, 3), (1.5, 2.5), (9, 3, 2, 3), (4, 2), (12, 4), (9, 3, 2, 3, 2, 3), (3, 5))
MARKS = "os^DPvX*"


def hue_of(style: int) -> str:
    """A series' colour."""
    return HUES[style % len(HUES)]


def dash_of(style: int) -> Sequence[float]:
    """A series' dash; none for a whole line."""
    return DASHES[style % len(HUES)]


def mark_of(style: int) -> str:
    """A series' mark."""
    return MARKS[style % len(HUES)]


def is_hollow(style: int) -> bool:
    """Whether the marks of a series are hollow, from the ninth on."""
    return style // len(HUES) % 2 == 1


Point = tuple[float, float]
GAP = (math.nan, math.nan)
"""No place: a line ends before it, and another begins after it."""
Look = Literal["word", "dark", "small", "bold", "mid", "end"]
"""Of text, as classes of `static/figures.css`: names; numbers in the plot; the letters of forest plots; which end of
the text lies at its place, if not the left one. Without one it is a number of an axis."""


class Canvas(Protocol):
    """Draws one thing over the other."""

    def line(self, points: Sequence[Point], colour: str, width: float = 1, dash: Sequence[float] = ()) -> None:
        """Through the points, with gaps where a coordinate is no number; a point alone is a dot."""

    def area(self, points: Sequence[Point], colour: str, opacity: float) -> None:
        """Within the points."""

    def marks(self, points: Sequence[Point], mark: str, colour: str, size: float, hollow: bool = False) -> None:
        """One of `style.MARKS`, or `x`, at each point that is one."""

    def text(self, x: float, y: float, text: str, *looks: Look) -> None:
        """One line; y is its foot."""


def segments(pairs: Iterable[tuple[Point, Point]]) -> list[Point]:
    """Separate strokes as one line."""
    return [point for pair in pairs for point in (*pair, GAP)]


def runs(points: Iterable[Point]) -> list[list[Point]]:
    """Neighbours without a gap."""
    found: list[list[Point]] = [[]]
    for point in points:
        if all(map(math.isfinite, point)):
            found[-1].append(point)
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


def fitted(text: str, letters: int, lines: int = 1) -> str:
    """Text that SVG can hold, in lines of so many letters; what does not fit is cut off."""
    wrapped = textwrap.wrap(spelled(text, keep="\n\t"), letters)
    return "\n".join(wrapped[:lines]) + ("…" if len(wrapped) > lines else "")
