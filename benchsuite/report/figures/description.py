"""Figures in words, for those who cannot see them: what is plotted, from where to where, and who ends where."""

from collections.abc import Sequence

from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.numbers import counted

MOST = 12
"""Of more rows, only the first and the last ones are listed."""
CHARTS = {"curves": ("Line chart", "line", "Last values"), "points": ("Scatter plot", "row", "Means")}
"""By kind: what it is, what is counted, and which values are listed."""


def alt(figure: Figure) -> str:
    """A few sentences from the data alone."""
    (chart, noun, what), parts = CHARTS[figure.kind], ("mean", "published")
    means, published = ([trace for trace in figure.series if trace.part == part] for part in parts)
    ordered = sorted(means, key=lambda trace: (trace.points[-1][1], trace.label), reverse=True)
    order = ", from the highest" if len(means) > 1 else ""
    printed = f" Published: {_listed(figure, published)}." if published else ""
    counted_means = counted(len(means), noun)
    return f"{chart}, {counted_means}. {_ranges(figure)} {what}{order}: {_listed(figure, ordered)}.{printed}"


def _said(value: float, axis: Axis) -> str:
    return f"{100 * value:.1f}%" if axis.percent else f"{value:.3g}"


def _listed(figure: Figure, traces: Sequence[Trace]) -> str:
    """The last value of each, with the first or the place."""
    texts = []
    for trace in traces:
        (_, first), (x, last) = trace.points[0], trace.points[-1]
        where = f"(from {_said(first, figure.y)})" if len(trace.points) > 1 else f"at {_said(x, figure.x)}"
        texts.append(f"{trace.label} {_said(last, figure.y)} {where}")
    half = MOST // 2
    between = [f"then {len(texts) - MOST} between"] if len(texts) > MOST else []
    return ", ".join([*texts[:half], *between, *texts[-half:]] if between else texts)


def _ranges(figure: Figure) -> str:
    points = [point for trace in figure.series for point in trace.points]
    axes = zip((figure.x, figure.y), zip(*points, strict=True), strict=True)
    ends = ((axis, _said(min(values), axis), _said(max(values), axis)) for axis, values in axes)
    return "; ".join(f"{axis.name} from {a} to {b}{', logarithmic' if axis.log else ''}" for axis, a, b in ends) + "."
