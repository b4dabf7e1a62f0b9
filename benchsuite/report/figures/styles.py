"""How series are told apart: hue, dash and mark by number, each of which would do alone for the first eight."""

import math

HUES = 8
DASHES: tuple[tuple[float, ...] | None, ...] = (
    None, (6, 3), (1.5, 2.5), (9, 3, 2, 3), (4, 2), (12, 4), (9, 3, 2, 3, 2, 3), (3, 5),
)  # fmt: skip
Point = tuple[float, float]


def hue(style: int) -> str:
    """The class whose colour the page's style sheet says: `s1` to `s8`."""
    return f"s{style % HUES + 1}"


def dash(style: int) -> tuple[float, ...] | None:
    """Lengths of strokes and gaps; None for a line without any."""
    return DASHES[style % HUES]


def mark(style: int) -> tuple[Point, ...]:
    """The corners of a mark, within 1 of its centre; empty for a disc. y points down."""
    return MARKS[style % HUES]


def hollow(style: int) -> bool:
    """Whether the mark is an outline: so that the ninth to sixteenth series differ from the first eight."""
    return style // HUES % 2 == 1


def _star(points: int, inner: float) -> tuple[Point, ...]:
    """A regular polygon with every second corner drawn in; the first corner is above."""
    turns = [(math.pi * k / points, inner if k % 2 else 1.0) for k in range(2 * points)]
    return tuple((length * math.sin(turn), -length * math.cos(turn)) for turn, length in turns)


def _cross(half: float) -> tuple[Point, ...]:
    """A plus of arms so wide."""
    arm = [(half, -1), (half, -half), (1, -half), (1, half), (half, half), (half, 1)]
    return tuple((x, y) for x, y in [*arm, *((-x, -y) for x, y in arm)])


def _turned(corners: tuple[Point, ...]) -> tuple[Point, ...]:
    """By 45 degrees."""
    half = math.sqrt(0.5)
    return tuple(((x - y) * half, (x + y) * half) for x, y in corners)


MARKS: tuple[tuple[Point, ...], ...] = (
    (),
    ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    ((0, -1.05), (1, 0.8), (-1, 0.8)),
    ((0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0)),
    _cross(0.32),
    ((0, 1.05), (1, -0.8), (-1, -0.8)),
    _turned(_cross(0.32)),
    _star(5, 0.45),
)
