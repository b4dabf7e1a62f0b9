"""Figures in words, for those who cannot see them: what is plotted, from where to where, and who ends where."""

from collections.abc import Iterable, Sequence

from benchsuite.report.figures.model import Axis, Figure, Trace

MOST = 12
"""Of more rows, only the first and the last ones are listed."""


def alt(figure: Figure) -> str:
    """A few sentences from the data alone."""
    return WORDS[figure.kind](figure)


def seeds_of(counts: Iterable[int]) -> str:
    """`1 seed`, `3 seeds`, `2 to 3 seeds`."""
    least, most = min(numbers := list(counts)), max(numbers)
    return _count(most, "seed") if least == most else f"{least} to {most} seeds"


def _curves(figure: Figure) -> str:
    means = [trace for trace in figure.series if trace.part == "mean"]
    several = any(trace.part == "seed" for trace in figure.series)
    over = "" if not several else ", a mean over seeds" if len(means) == 1 else ", each a mean over seeds"
    ordered = sorted(means, key=lambda trace: (trace.points[-1][1], trace.label), reverse=True)
    ends = [
        f"{trace.label} {_said(trace.points[-1][1], figure.y)} (from {_said(trace.points[0][1], figure.y)})"
        for trace in ordered
    ]
    order = ", from highest to lowest" if len(ends) > 1 else ""
    return f"Line chart, {_count(len(means), 'line')}{over}. {_ranges(figure)} Last values{order}: {_listed(ends)}."


def _points(figure: Figure) -> str:
    means = [trace for trace in figure.series if trace.part == "mean"]
    ordered = sorted(means, key=lambda trace: trace.points[0][1], reverse=True)
    order = ", from the highest" if len(means) > 1 else ""
    published = [trace for trace in figure.series if trace.part == "published"]
    return (
        f"Scatter plot, {_count(len(means), 'row')}. {_ranges(figure)} "
        f"{figure.y.name} at {figure.x.name}, means{order}: {_places(figure, ordered)}."
        + (f" Published: {_places(figure, published)}." if published else "")
    )


WORDS = {
    "curves": _curves,
    "points": _points,
}


def _said(value: float, axis: Axis) -> str:
    return f"{100 * value:.1f}%" if axis.percent else f"{value:.3g}"


def _places(figure: Figure, traces: Sequence[Trace]) -> str:
    places = [(trace.label, *trace.points[0]) for trace in traces]
    return _listed([f"{label} {_said(y, figure.y)} at {_said(x, figure.x)}" for label, x, y in places])


def _ranges(figure: Figure) -> str:
    points = [point for trace in figure.series for point in trace.points]
    axes = zip((figure.x, figure.y), zip(*points, strict=True), strict=True)
    ranges = [f"{axis.name} {_from_to(values, axis)}{', logarithmic' if axis.log else ''}" for axis, values in axes]
    return "; ".join(ranges) + "."


def _from_to(values: Sequence[float], axis: Axis) -> str:
    low, high = min(values), max(values)
    return f"from {_said(low, axis)} to {_said(high, axis)}"


def _listed(texts: Sequence[str]) -> str:
    half = MOST // 2
    between = [f"then {len(texts) - MOST} between"] if len(texts) > MOST else []
    return ", ".join([*texts[:half], *between, *texts[-half:]] if between else texts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
