"""How figures look: hues, dashes and marks of series, and how much room there is, on pages and in papers alike."""

from collections.abc import Sequence

HUES = ("#108ac3", "#620d1e", "#7f8e12", "#6731b6", "#016654", "#d1608f", "#a77f56", "#222e5a")
INK, QUIET, RULE, PAPER = "#1b1f24", "#57606a", "#d0d7de", "#ffffff"
COLOURS = {hue: f"--series-{number}" for number, hue in enumerate(HUES, 1)}
COLOURS |= {INK: "--ink", QUIET: "--quiet", RULE: "--line", PAPER: "--paper"}
"""Those of the light theme, and their names in the style sheets of pages."""
DASHES = ((), (6, 3), (1.5, 2.5), (9, 3, 2, 3), (4, 2), (12, 4), (9, 3, 2, 3, 2, 3), (3, 5))
MARKS = "os^DPvX*"
WIDTH = 400
"""In 1/72 inch, as all lengths: on a telephone, where it becomes 348 pixels, ticks are still 9 pixels high."""
SIDE, LEFT, TOP, HEIGHT, FOOT = 16, 48, 28, 220, 40
"""Room at the sides, left of an upright axis, above the data, for the data, and below them for the axis."""
LINE, LETTERS = 18, 60
"""A line of text: its height, and how many letters fit into the whole width."""


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
