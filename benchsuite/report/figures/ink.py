"""SVG by hand: lines, bands, marks and text in the page's colours. Pages have hundreds of figures; see `sketch.py`."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from markupsafe import escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.path import path, stairs
from benchsuite.report.figures.style import COLOURS, DASHES, HUES, MARKS, PAPER, QUIET

Point = tuple[float, float]
GAP = (math.nan, math.nan)
"""No place: a line ends before it, and another begins after it."""
Look = Literal["word", "dark", "mid", "end"]
BAND = 0.2
"""Opacity of bands."""


@dataclass
class Ink:
    """What was drawn so far. By `static/figures.css` a path is quiet, 1 wide and not filled, unless it says so."""

    parts: list[str] = field(default_factory=list)

    def line(self, points: Sequence[Point], colour: str, width: float, dash: Sequence[float] = ()) -> None:
        """Through the points, with gaps where a coordinate is no number; level strokes where a point stands alone."""
        dashes = f' stroke-dasharray="{_dashed(dash)}"' if dash else ""
        drawn = "".join(map(path, _runs(points)))
        if drawn:
            own = "" if colour == QUIET else f' stroke="{named(colour)}"'
            own += "" if width == 1 else f' stroke-width="{width:g}"'
            self.parts.append(f'<path d="{drawn}"{own}{dashes}/>')

    def strokes(self, each: Iterable[Sequence[Point]], colour: str, width: float) -> None:
        """Several lines of one look."""
        self.line([point for points in each for point in (*points, GAP)], colour, width)

    def band(self, lower: Sequence[Point], upper: Sequence[Point], colour: str) -> None:
        """Between two lines of equally many points."""
        for run in _runs([(*low, *high) for low, high in zip(lower, upper, strict=True)]):
            around = [*(part[:2] for part in run), *(part[2:] for part in reversed(run))]
            self.parts.append(f'<path d="{path(around)}z" fill="{named(colour)}" stroke="none" opacity="{BAND}"/>')

    def stairs(self, edges: Sequence[float], tops: Sequence[float], floor: float, style: int) -> None:
        """A histogram's outline; that of the first style is filled."""
        dash = f' stroke-dasharray="{_dashed(dash_of(style))}"' if dash_of(style) else ""
        fill = f' fill="{named(hue_of(style))}" fill-opacity=".3"' if not style else ""
        look = f'{fill} stroke="{named(hue_of(style))}" stroke-width="1.5"{dash}'
        self.parts.append(f'<path d="{stairs(edges, tops, floor)}"{look}/>')

    def marks(self, points: Iterable[Point], mark: str, colour: str, size: float, hollow: bool = False) -> None:
        """One mark at each point. A disc is a line without length: its ends are round."""
        if mark == "o" and not hollow:
            dots = "".join(f"M{_short(x)} {_short(y)}h0" for x, y in points if math.isfinite(x + y))
            if dots:
                self.parts.append(f'<path d="{dots}" stroke="{named(colour)}" stroke-width="{size + 1.2:g}"/>')
            return
        drawn = "".join(f"M{_short(x)} {_short(y)}{SHAPES[mark](size / 2)}" for x, y in points if math.isfinite(x + y))
        fill = "" if mark == "x" else f' fill="{named(PAPER if hollow else colour)}"'
        if drawn:
            self.parts.append(f'<path d="{drawn}"{fill} stroke="{named(colour)}" stroke-width="1.2"/>')

    def style(self, points: Iterable[Point], style: int, size: float, hollow: bool = False) -> None:
        """Marks of a series."""
        self.marks(points, MARKS[style % len(HUES)], hue_of(style), size, hollow or is_hollow(style))

    def text(self, x: float, y: float, text: str, *look: Look) -> None:
        """One line of text; y is its foot. Looks are classes of `static/figures.css`; without one it is a number of an
        axis that begins at its place."""
        own = f' class="{" ".join(look)}"' if look else ""
        self.parts.append(f'<text x="{_short(x)}" y="{_short(y)}"{own}>{escape(spelled(text))}</text>')


def named(colour: str) -> str:
    """A colour as pages and their dark form have it."""
    return f"var({COLOURS[colour]})"


def hue_of(style: int) -> str:
    """A series' colour."""
    return HUES[style % len(HUES)]


def dash_of(style: int) -> Sequence[float]:
    """A series' dash; none for a whole line."""
    return DASHES[style % len(HUES)]


def is_hollow(style: int) -> bool:
    """Whether the marks of a series are hollow, from the ninth on."""
    return style // len(HUES) % 2 == 1


def _dashed(dash: Sequence[float]) -> str:
    return " ".join(f"{part:g}" for part in dash)


def _polygon(corners: Iterable[Point], r: float) -> str:
    places = [(x * r, y * r) for x, y in corners]
    moves = [(0.0, 0.0), *places]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(moves)]
    first, *others = (f"{_short(dx)} {_short(dy)}" for dx, dy in steps)
    return f"m{first}l{' '.join(others)}z"


def _star(r: float) -> str:
    turns = [(math.pi * k / 5, 1.3 if k % 2 == 0 else 0.55) for k in range(10)]
    return _polygon([(long * math.sin(turn), -long * math.cos(turn)) for turn, long in turns], r)


PLUS = [
    (-0.33, -1), (0.33, -1), (0.33, -0.33), (1, -0.33), (1, 0.33), (0.33, 0.33), (0.33, 1), (-0.33, 1), (-0.33, 0.33),
    (-1, 0.33), (-1, -0.33), (-0.33, -0.33),
]  # fmt: skip
TURNED = [((x - y) * 0.75, (x + y) * 0.75) for x, y in PLUS]
SHAPES: Mapping[str, Callable[[float], str]] = {
    "o": lambda r: f"m{_short(-r)} 0a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0z",
    "s": lambda r: _polygon([(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)], r),
    "^": lambda r: _polygon([(0, -1.1), (1, 0.9), (-1, 0.9)], r),
    "D": lambda r: _polygon([(0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)], r),
    "P": lambda r: _polygon(PLUS, r),
    "v": lambda r: _polygon([(0, 1.1), (1, -0.9), (-1, -0.9)], r),
    "X": lambda r: _polygon(TURNED, r),
    "*": _star,
    "x": lambda r: f"m{_short(-r)} {_short(-r)}l{2 * r:g} {2 * r:g}m0 {-2 * r:g}l{-2 * r:g} {2 * r:g}",
}
"""Paths around a point, by mark; the last one is of failed trials."""


def _runs(points: Iterable[tuple[float, ...]]) -> list[list[tuple[float, ...]]]:
    """Neighbours without a gap."""
    runs: list[list[tuple[float, ...]]] = [[]]
    for point in points:
        if all(map(math.isfinite, point)):
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _short(value: float) -> str:
    return f"{value:z.1f}".removesuffix(".0")
