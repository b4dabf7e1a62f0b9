"""Figures of every kind, small and by hand; and what is drawn of them."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from xml.etree import ElementTree

from benchsuite.report.figures.canvas import Look, Point
from benchsuite.report.figures.drawing import draw
from benchsuite.report.figures.model import Axis, Comparison, Estimate, Figure, Forest, Trace

HOSTILE = "<script>alert(1)</script>"
GAP = math.nan


def curves(count: int = 2, label: str = "Row", **changes: object) -> Figure:
    """Lines of four points, of which the first has a gap; one of one seed beside each."""
    steps = [1.0, 2.0, 3.0, 4.0]
    series: list[Trace] = []
    for k in range(count):
        name, gap = f"{label} {k}", GAP if k == 0 else k + 1.5
        series.append(Trace(name, steps, [k + 1.0, gap, k + 2.0, k + 0.5], "seed", k, [7]))
        series.append(Trace(name, steps, [k + 1.1, gap + 0.1, k + 2.1, k + 0.6], "mean", k))
    parts = {"id": "t-curves", "slug": "curves", "title": "Loss over time", "caption": "All of it", **changes}
    return Figure(kind="curves", x=Axis("Training step", whole=True), y=Axis("Loss"), series=series, **parts)  # type: ignore[arg-type]


def line(x: list[float], y: list[float], step: Axis | None = None, **changes: object) -> Figure:
    """One line alone."""
    trace = Trace("Row", x, y, **changes)  # type: ignore[arg-type]
    return Figure("t-line", "line", "curves", "", "", step or Axis("Step", whole=True), Axis("y"), [trace])


def points(count: int = 3, label: str = "Row") -> Figure:
    series: list[Trace] = []
    for k in range(count):
        x, y = [0.1 * k, 0.1 * k + 0.05], [0.2 + 0.01 * k, 0.3 + 0.01 * k]
        series.append(Trace(f"{label} {k}", x, y, "seed", k, [0, 1]))
        series.append(Trace(f"{label} {k}", [0.1 * k + 0.025], [0.25 + 0.01 * k], "mean", k))
    return Figure("t-points", "points", "points", "Against", "", Axis("Gap"), Axis("R@1", percent=True), series)


def forest(label: str = "Row") -> Forest:
    """A line with all there can be, one that is a single seed, and one of which nothing is known."""
    whole = Estimate(2.0, 1.0, 3.0, seeds=[1.2, 2.8], unconfirmable=30.0)
    return forest_of(
        Comparison(f"{label}s", f"{label} 0", "reproduced", "percent", whole, published=70.0),
        Comparison(f"{label}s", f"{label} 1", "undecided", "percent", Estimate(-1.0)),
        Comparison("Other", f"{label} 2", "not run", "percent", None),
        title=label,
    )


def forest_of(*lines: Comparison, title: str = "") -> Forest:
    return Forest("t-forest", "forest", title, "", "Difference", "percent", [[one] for one in lines])


ON_PAGES: dict[str, Callable[..., Figure]] = {"curves": curves, "points": points}
EVERY: dict[str, Callable[..., Figure | Forest]] = {**ON_PAGES, "forest": forest}


@dataclass
class Recorder:
    """A canvas that keeps what is drawn, by what it is, in order."""

    lines: list[SimpleNamespace] = field(default_factory=list)
    areas: list[SimpleNamespace] = field(default_factory=list)
    marked: list[SimpleNamespace] = field(default_factory=list)
    texts: list[SimpleNamespace] = field(default_factory=list)
    size: tuple[float, float] = (0, 0)

    def line(self, points: Sequence[Point], colour: str, width: float = 1, dash: Sequence[float] = ()) -> None:
        self.lines.append(SimpleNamespace(points=list(points), colour=colour, width=width, dash=tuple(dash)))

    def area(self, points: Sequence[Point], colour: str, opacity: float) -> None:
        self.areas.append(SimpleNamespace(points=list(points), colour=colour, opacity=opacity))

    def marks(self, points: Sequence[Point], mark: str, colour: str, size: float, hollow: bool = False) -> None:
        self.marked.append(SimpleNamespace(points=list(points), mark=mark, colour=colour, size=size, hollow=hollow))

    def text(self, x: float, y: float, text: str, *looks: Look) -> None:
        self.texts.append(SimpleNamespace(x=x, y=y, text=text, looks=looks))

    @property
    def said(self) -> list[str]:
        return [text.text for text in self.texts]


def drawn(figure: Figure | Forest) -> Recorder:
    canvas = Recorder()
    canvas.size = draw(figure, canvas)
    return canvas


def texts(root: ElementTree.Element) -> list[str]:
    """What is written in a drawing, and in its description: the names of numbered points are there."""
    return [element.text or "" for tag in ("text", "desc") for element in root.iter(tag)]


NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


def through(path: str) -> list[tuple[float, float]]:
    """The places that the lines of a path go through; shapes of marks are none."""
    found: list[tuple[float, float]] = []
    for letter, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(number) for number in NUMBER.findall(text)]
        pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
        if letter == "M":
            found += pairs
        elif letter == "l":
            for dx, dy in pairs:
                found.append((round(found[-1][0] + dx, 3), round(found[-1][1] + dy, 3)))
        elif letter not in "hz":
            break
    return found
