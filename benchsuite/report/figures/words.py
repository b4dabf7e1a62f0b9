"""Figures in words, for those who cannot see them: what is plotted, from where to where, and who ends where."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from benchsuite.report.figures.model import Axis, Figure, Trace

T = TypeVar("T")
MOST = 12
"""The most rows that are told one by one; of more, the ends are."""


def alt(figure: "Figure") -> str:
    """A few sentences from the data alone."""
    return TELLERS[figure.kind](figure)


def told(value: float, axis: "Axis") -> str:
    """A number of an axis in words: three digits, with the unit."""
    return f"{axis.shown(value):.1f}%" if axis.percent else f"{value:.3g}"


def seeds_of(counts: Iterable[int]) -> str:
    """`1 seed`, `3 seeds`, `2 to 3 seeds`."""
    least, most = min(found := list(counts)), max(found)
    return f"{least} to {most} seeds" if least < most else "1 seed" if most == 1 else f"{most} seeds"


def _curves(figure: "Figure") -> str:
    bold = [one for one in figure.series if one.part == "mean"]
    ends = sorted(((one.points[-1][1], one.label) for one in bold), reverse=True)
    starts = {one.label: one.points[0][1] for one in bold}
    several = any(one.part == "seed" or one.low for one in figure.series)
    means = ", each a mean over seeds" if several and len(bold) > 1 else ", a mean over seeds" if several else ""
    what = f"Line chart, {_count(len(bold), 'line')}{means}"
    last = [
        f"{label} {told(value, figure.y)} (from {told(starts[label], figure.y)})" for value, label in _shortened(ends)
    ]
    order = ", from highest to lowest" if len(ends) > 1 else ""
    return f"{what}. {_ranges(figure)} Last values{order}: {_listed(last, len(ends))}."


def _points(figure: "Figure") -> str:
    means = [one for one in figure.series if one.part == "mean"]
    placed = sorted(((one.points[-1], one.label) for one in means), key=lambda at: at[0][1], reverse=True)
    told_ones = [f"{label} {told(y, figure.y)} at {told(x, figure.x)}" for (x, y), label in _shortened(placed)]
    what = f"Scatter plot, {_count(len(means), 'row')}"
    order = ", from the highest" if len(placed) > 1 else ""
    means_told = _listed(told_ones, len(placed))
    return f"{what}. {_ranges(figure)} {figure.y.name} at {figure.x.name}, means{order}: {means_told}."


def _cost(figure: "Figure") -> str:
    front = sorted(((x, y, one.label) for one in figure.series if one.part == "front" for x, y in one.points))
    rest = sorted(((x, y, one.label) for one in figure.series if one.part != "front" for x, y in one.points))
    front_told, rest_told = (
        [f"{label} {told(y, figure.y)} at {told(x, figure.x)}" for x, y, label in _shortened(some)]
        for some in (front, rest)
    )
    what = f"Scatter plot, {_count(len(front) + len(rest), 'point')}"
    on = f"On the Pareto front, from the cheapest: {_listed(front_told, len(front))}." if front else ""
    off = f" Not on it: {_listed(rest_told, len(rest))}." if rest else ""
    return f"{what}. {_ranges(figure)} {on}{off}".strip()


def _histogram(figure: "Figure") -> str:
    panels = dict.fromkeys(one.panel for one in figure.series)
    said = []
    for panel in panels:
        sides = [one for one in figure.series if one.panel == panel]
        means = ", ".join(f"{one.label.lower()} {round(_mean(one), 2) + 0:.2f}" for one in sides)
        common = sum(min(pair) for pair in zip(*(one.y for one in sides), strict=True))
        said.append(f"{panel}: mean of {means}; {100 * common:.0f}% in common")
    what = f"Histograms of {figure.x.name.lower()} from -1 to 1, {_count(len(panels), 'panel')}"
    return f"{what}. {'. '.join(said)}."


def _rows(figure: "Figure") -> str:
    published = {one.label: one.points[0][0] for one in figure.series if one.part == "published"}
    means = sorted((one.points[0][0], one.label) for one in figure.series if one.part == "mean")
    said = [
        f"{label} {told(value, figure.x)}"
        + (f" (published {told(published[label], figure.x)})" if label in published else "")
        for value, label in _shortened(means)
    ]
    low, high = _span([x for one in figure.series for x, _ in one.points])
    what = f"Dot plot of {figure.x.name}, {_count(len(means), 'row')}"
    ends = f"from {told(low, figure.x)} to {told(high, figure.x)}"
    return f"{what}, {ends}. Means, from the lowest: {_listed(said, len(means))}."


TELLERS = {"curves": _curves, "points": _points, "cost": _cost, "histogram": _histogram, "rows": _rows}


def _ranges(figure: "Figure") -> str:
    points = [point for one in figure.series for point in one.points]
    said = []
    for axis, values in ((figure.x, [x for x, _ in points]), (figure.y, [y for _, y in points])):
        low, high = _span(values)
        scale = ", logarithmic" if axis.log else ""
        said.append(f"{axis.name} from {told(low, axis)} to {told(high, axis)}{scale}")
    return "; ".join(said) + "."


def _span(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _shortened(ordered: Sequence[T]) -> list[T]:
    return list(ordered) if len(ordered) <= MOST else [*ordered[: MOST // 2], *ordered[-MOST // 2 :]]


def _listed(said: Sequence[str], count: int) -> str:
    if count <= len(said):
        return ", ".join(said)
    half = len(said) // 2
    return f"{', '.join(said[:half])}, then {count - len(said)} between, {', '.join(said[half:])}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _mean(one: "Trace") -> float:
    width = one.x[1] - one.x[0] if len(one.x) > 1 else 0.0
    total = math.fsum(one.y) or 1.0
    return math.fsum((x + width / 2) * y for x, y in zip(one.x, one.y, strict=True)) / total
