"""What all drawings have around their data: axes with few ticks, a legend below, labels that keep out of each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchsuite.report.figures import styles
from benchsuite.report.figures.markup import shortened, width, wrapped
from benchsuite.report.figures.model import Axis
from benchsuite.report.figures.scales import Scale
from benchsuite.report.figures.surface import Surface

LINE = 18
"""Height of a line of text."""
BELOW = 15
"""From a line of text to another of the same."""
BETWEEN = 14
EDGE = 10
SMALL = 11
OFFERS = [
    (dx, dy, ring)
    for ring in (1, 2, 3, 4)
    for dx, dy in ((1, 0), (0, -1), (0, 1), (-1, 0), (0.8, -0.8), (0.8, 0.8), (-0.8, -0.8), (-0.8, 0.8))
]
"""Where a label may stand from its point: direction and distance."""
SWATCH = 34


@dataclass(frozen=True)
class Entry:
    """One line of a legend: a style, by a line or a mark alone, and what it stands for."""

    label: str
    style: int
    line: bool = True
    mark: bool = True
    number: int | None = None
    group: str = ""
    """The class that colours it; that of its style if empty."""
    hollow: bool = False


@dataclass(frozen=True)
class Frame:
    """Where data are drawn, and how values become places."""

    left: float
    right: float
    top: float
    bottom: float
    x: Scale
    y: Scale


def framed(
    surface: Surface, x: Axis, y: Axis, xs: Sequence[float], ys: Sequence[float], top: float, bottom: float
) -> Frame:
    """Axes, drawn: names, ticks, and a line across at each tick of y."""
    right = surface.width - EDGE
    upright = Scale(y, ys, bottom, top)
    left = EDGE + max((width(said, SMALL) for _, said in upright.ticks), default=0)
    frame = Frame(left, right, top, bottom, Scale(x, xs, left + EDGE / 2, right, ticks=6), upright)
    surface.strokes([(left, at, right, at) for at, _ in upright.ticks], "rule", 1)
    for at, said in upright.ticks:
        surface.text(left - 6, at + 3.5, said, "quiet", "end", SMALL)
    across(surface, frame.x, x, bottom, left, right)
    surface.text(0, top - 10, shortened(axis_name(y), surface.width), "ink")
    return frame


def across(surface: Surface, scale: Scale, axis: Axis, bottom: float, left: float, right: float) -> None:
    """The x axis: a line, its ticks, its name below."""
    ticks = [(at, bottom, at, bottom + 4) for at, _ in scale.ticks]
    surface.strokes([(left, bottom, right, bottom), *ticks], "base", 1)
    for at, said in scale.ticks:
        half = width(said, SMALL) / 2
        surface.text(min(at, surface.width - half), bottom + 15, said, "quiet", "middle", SMALL)
    surface.text(right, bottom + 31, shortened(axis_name(axis), right), "ink", "end")


def axis_name(axis: Axis) -> str:
    """With its unit."""
    return f"{axis.name}, %" if axis.percent else axis.name


def legend_height(entries: Sequence[Entry], room: float) -> float:
    """Of the lines that a legend takes, each as full as it goes."""
    return sum(high for _, high in _flowed(entries, room)) + (6 if entries else 0)


def legend(surface: Surface, entries: Sequence[Entry], top: float) -> None:
    """The styles and what they stand for."""
    y = top + LINE / 2 + 2
    for line, high in _flowed(entries, surface.width):
        for x, one, texts in line:
            _swatch(surface, one, x, y)
            for number, text in enumerate(texts):
                surface.text(x + _lead(one), y + 4 + number * BELOW, text)
        y += high


def numbered(surface: Surface, places: Sequence[tuple[float, float]], texts: Sequence[str], frame: Frame) -> None:
    """Short labels near points, each where it covers least of points and of labels before it; joined if not beside."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places]
    for (x, y), text in zip(places, texts, strict=True):
        wide, high = width(text, SMALL) + 2, SMALL
        middles = [(x + dx * (ring * 9 + wide / 2 - 4), y + dy * (ring * 9 + high / 2 - 4)) for dx, dy, ring in OFFERS]
        boxes = [(mx - wide / 2, my - high / 2, mx + wide / 2, my + high / 2) for mx, my in middles]
        covered: list[int] = []
        while 0 not in covered and len(covered) < len(boxes):
            covered.append(round(_covered(boxes[len(covered)], taken, frame)))
        best = min(range(len(covered)), key=lambda one: (covered[one], OFFERS[one][2]))
        taken.append(boxes[best])
        if OFFERS[best][2] > 1:
            surface.line([x, middles[best][0]], [y, middles[best][1]], "quiet", 0.6)
        surface.text(middles[best][0], boxes[best][3] - 2, text, "halo", "middle", SMALL)


def _covered(box: tuple[float, ...], taken: Sequence[tuple[float, ...]], frame: Frame) -> float:
    """Area shared with what is there, and ten times that outside of the frame."""
    left, top, right, bottom = box
    shared = sum(
        (min(right, r) - max(left, x)) * (min(bottom, b) - max(top, t))
        for x, t, r, b in taken
        if x < right and left < r and t < bottom and top < b
    )
    outside = max(0.0, frame.left - left, right - frame.right - EDGE, frame.top - 6 - top, bottom - frame.bottom)
    return shared + 10 * outside * SMALL


def _flowed(entries: Sequence[Entry], room: float) -> list[tuple[list[tuple[float, Entry, list[str]]], float]]:
    """Lines of entries with their places and texts, and how high each line is."""
    lines: list[tuple[list[tuple[float, Entry, list[str]]], float]] = []
    x = room
    for one in entries:
        said = one.label if one.number is None else f"{one.number} {one.label}"
        wide = _lead(one) + width(said)
        if not lines or x + wide > room:
            texts = wrapped(said, room - _lead(one))
            lines.append(([(0.0, one, texts)], LINE + BELOW * (len(texts) - 1)))
            x = wide + BETWEEN
        else:
            lines[-1][0].append((x, one, [said]))
            x += wide + BETWEEN
    return lines


def _lead(one: Entry) -> float:
    return SWATCH + 6 if one.line else 18 if one.mark else 0


def _swatch(surface: Surface, one: Entry, x: float, y: float) -> None:
    group = one.group or styles.hue(one.style)
    middle = x + (_lead(one) - 6) / 2
    if one.line:
        surface.line([x, x + SWATCH], [y, y], group, 2, styles.dash(one.style))
    if one.mark:
        hollow = one.hollow or styles.hollow(one.style)
        surface.marks([middle], [y], group, styles.mark(one.style), 4, hollow)
