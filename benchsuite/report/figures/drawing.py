"""Draws a figure on a canvas: curves and points here, other kinds beside it."""

from collections.abc import Callable, Mapping, Sequence

from benchsuite.grouping import by_key
from benchsuite.report.figures.canvas import HUES, Canvas, Point, dash_of, hue_of, is_hollow, mark_of, runs
from benchsuite.report.figures.chart import SIDE, Chart, Drawn, Sample, draw_legend, mark_sample
from benchsuite.report.figures.forest import forest
from benchsuite.report.figures.model import Figure, Forest, Kind, Part, Trace

BEHIND = (13, 29, 45)
"""How far to the right of lines' ends numbers stand; of neighbours in y each at another place."""
SIZES: Mapping[Part, float] = {"seed": 4.5, "trial": 4.5, "mean": 8.0, "best": 8.0, "published": 9.0}
"""Of marks, in the order in which they are drawn."""
LARGE: Sequence[Part] = ("mean", "best")
"""Whose marks are filled, and named in the legend."""


def draw(figure: Figure | Forest, canvas: Canvas) -> tuple[float, float]:
    """Draw it with its legend; its width and height."""
    drawn = forest(figure, canvas) if isinstance(figure, Forest) else KINDS[figure.kind](figure, canvas)
    return drawn[0], draw_legend(canvas, *drawn)


def _curves(figure: Figure, canvas: Canvas) -> Drawn:
    """A line for each mean, on an area from the lowest to the highest seed."""
    means = [trace for trace in figure.series if trace.part == "mean"]
    numbered = len(means) > len(HUES)
    chart = Chart(figure, canvas, right=SIDE + BEHIND[-1] if numbered else SIDE)
    for seeds in by_key((trace.label, trace) for trace in figure.series if trace.part == "seed").values():
        if outline := _outline(seeds):
            canvas.area(chart.places(*zip(*outline, strict=True)), hue_of(seeds[0].style), 0.25)
    for number, trace in enumerate(means):
        places = chart.places(trace.x, trace.y)
        canvas.line(places, hue_of(trace.style), 2.2, dash_of(trace.style))
        apart = max(1, len(places) // 5)
        first = apart * number // len(means) + apart // 2 if len(places) > 1 else 0
        marked = places[first::apart] if len(means) > 1 else []
        alone = [place for place, *others in runs(places) if not others]  # of which a line shows next to nothing
        _marks(canvas, list(dict.fromkeys([*marked, *alone])), trace.style, 7)
    if numbered:
        ends = sorted((_end(chart, trace), number) for number, trace in enumerate(means, 1))
        for order, ((x, y), number) in enumerate(sorted(ends, key=lambda end: end[0][1])):
            canvas.text(x + BEHIND[order % len(BEHIND)], y + 4, str(number), "dark", "mid")
    return chart.drawn(_legend(means, numbered, _line_sample) if len(means) > 1 else ())


def _outline(seeds: Sequence[Trace]) -> list[Point]:
    """Around all that the seeds have, where each has a value: the highest to the right, and the lowest back."""
    at = by_key(point for trace in seeds for point in trace.points)
    steps = sorted(x for x, values in at.items() if len(values) == len(seeds))
    return [*((x, max(at[x])) for x in steps), *((x, min(at[x])) for x in reversed(steps))]


def _points(figure: Figure, canvas: Canvas) -> Drawn:
    """A mark for each mean or best trial, hollow ones for single runs and for what the paper has."""
    means = [trace for trace in figure.series if trace.part in LARGE]
    published = [trace for trace in figure.series if trace.part == "published"]
    chart = Chart(figure, canvas)
    for part, size in SIZES.items():
        for trace in (trace for trace in figure.series if trace.part == part):
            _marks(canvas, chart.places(trace.x, trace.y), trace.style, size, hollow=part not in LARGE)
    numbered = len(means) > len(HUES)
    if numbered:
        numbers = {trace.label: number for number, trace in enumerate(means, 1)}
        shown = [*means, *published]
        chart.numbers([_end(chart, trace) for trace in shown], [numbers[trace.label] for trace in shown])

    def sample(trace: Trace) -> Sample:
        return mark_sample(mark_of(trace.style), hue_of(trace.style), 8, is_hollow(trace.style))

    return chart.drawn(_legend(means, numbered, sample))


KINDS: Mapping[Kind, Callable[[Figure, Canvas], Drawn]] = {"curves": _curves, "points": _points}


def _marks(canvas: Canvas, places: Sequence[Point], style: int, size: float, hollow: bool = False) -> None:
    canvas.marks(places, mark_of(style), hue_of(style), size, hollow or is_hollow(style))


def _legend(traces: Sequence[Trace], numbered: bool, sample: Callable[[Trace], Sample]) -> list[tuple[str, Sample]]:
    """Series by name; those that are too many for hues, dashes and marks have a number before it."""
    return [(f"{n} {trace.label}" if numbered else trace.label, sample(trace)) for n, trace in enumerate(traces, 1)]


def _line_sample(trace: Trace) -> Sample:
    def sample(canvas: Canvas, x: float, y: float) -> None:
        canvas.line([(x, y), (x + 31, y)], hue_of(trace.style), 2.2, dash_of(trace.style))
        _marks(canvas, [(x + 15.5, y)], trace.style, 7)

    return sample


def _end(chart: Chart, trace: Trace) -> Point:
    x, y = trace.points[-1]
    return chart.places([x], [y])[0]
