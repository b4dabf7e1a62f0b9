"""Figures whose rows lie below each other on one x axis, as SVG by hand: histograms, and one number of each row."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchsuite.report.figures.ink import Ink, Point
from benchsuite.report.figures.model import Axis, Figure, labels
from benchsuite.report.figures.ruler import Rule
from benchsuite.report.figures.sketch import Handle, Mark, finished
from benchsuite.report.figures.style import FOOT, HUES, INK, LETTERS, LINE, QUIET, RULE, SIDE, WIDTH
from benchsuite.report.figures.words import fitted

START, END = SIDE, WIDTH - SIDE
COSINES = (-1.0, 1.0)


@dataclass
class Stack:
    """A drawing of rows, each with its name above its data."""

    axis: Axis
    names: Sequence[str]
    step: float
    """The height of a row."""
    values: Sequence[float]
    grid: bool = False
    ink: Ink = field(default_factory=Ink)

    def __post_init__(self) -> None:
        self.x = Rule.over(self.axis, self.values, START, END, 0.02)
        foot, ticks = self.step * len(self.names), self.x.ticks(5)
        rules = [((START, self.step * row), (END, self.step * row)) for row in range(1, len(self.names))]
        lines = [((place, 0.0), (place, foot)) for place, _ in ticks] if self.grid else []
        self.ink.strokes([*rules, *lines], RULE, 1)
        marks = [((place, foot), (place, foot + 3.5)) for place, _ in ticks]
        self.ink.strokes([*marks, ((START, foot), (END, foot))], QUIET, 1)
        for place, label in ticks:
            self.ink.text(place, foot + 15, label, "mid")
        self.ink.text(END, foot + 31, fitted(self.axis.name, LETTERS), "word", "end")
        for row, name in enumerate(self.names):
            self.ink.text(START, self.step * row + 13, fitted(name, LETTERS), "word")

    def legend(self, names: Sequence[tuple[str, Handle]]) -> str:
        """Samples with their names; the drawing is then done."""
        return finished(self.ink, WIDTH, self.step * len(self.names) + FOOT, names)


def histogram(figure: Figure) -> str:
    """Shares over cosines, those of a row as high as its room; the first side is filled, the others are outlines."""
    rows = list(dict.fromkeys(trace.panel for trace in figure.series))
    room = max(38, 108 - 6 * len(rows)) - 6
    stack = Stack(replace(figure.x, ends=COSINES), rows, room + LINE + 6, COSINES)
    samples: dict[str, Handle] = {}
    for trace in figure.series:
        floor = stack.step * (rows.index(trace.panel) + 1)
        peak = max(max(other.y) for other in figure.series if other.panel == trace.panel)
        held = [number for number, share in enumerate(trace.y) if share]
        if held:
            first, last = held[0], held[-1] + 1
            edges = [stack.x.at(edge) for edge in [*trace.x, COSINES[1]][first : last + 1]]
            stack.ink.stairs(edges, [floor - share / peak * room for share in trace.y[first:last]], floor, trace.style)
            samples[trace.label] = _step(trace.style)
    return stack.legend(list(samples.items()))


def rows(figure: Figure) -> str:
    """Each row's number: of single runs, their mean, and the published one."""
    names = labels(figure.series)
    stack = Stack(figure.x, names, 2 * LINE, [x for trace in figure.series for x in trace.x], grid=True)
    several = any(trace.part == "seed" for trace in figure.series)
    looks = (
        ("seed", "single run", Mark("o", HUES[0], 5, hollow=True)),
        ("mean", "mean of our runs" if several else "our run", Mark("o", HUES[0], 9)),
        ("published", "published", Mark("X", INK, 8)),
    )
    samples: list[tuple[str, Handle]] = []
    for part, name, look in looks:
        traces = [trace for trace in figure.series if trace.part == part]
        places: list[Point] = [
            (stack.x.at(x), stack.step * names.index(trace.label) + 26) for trace in traces for x in trace.x
        ]
        if places:
            look.at(stack.ink, places)
            samples.append((name, look))
    return stack.legend(samples if len(samples) > 1 else [])


def _step(style: int) -> Handle:
    def handle(ink: Ink, x: float, y: float) -> None:
        ink.stairs([x + 1, x + 31], [y - 4], y + 4, style)

    return handle
