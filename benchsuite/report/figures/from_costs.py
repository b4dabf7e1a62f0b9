"""What each method of a board costs against how good it is, with the points that none beats in both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchsuite.analysis.boards import Board, PrimaryMeasure
from benchsuite.analysis.costs import RelativeCost, pareto, reference
from benchsuite.report.figures.model import Axis, Figure, Trace, slug, unique

LOG_FROM = 8
"""The axis of costs is logarithmic if the dearest costs more than so many times the cheapest."""


@dataclass(frozen=True)
class CostPoint:
    """One row of a board; fractions where quality is in percent."""

    row: int
    """Its number, from 0: the same in all figures of a site."""
    label: str
    cost: float
    """A multiple of the reference's."""
    quality: float
    low: float | None = None
    high: float | None = None
    """The interval of the quality, if it is known."""


def cost_numbers(boards: Iterable[Board]) -> dict[str, int]:
    """A number for each label of a row, whatever board it stands on: so that a method keeps its number on all pages."""
    return {label: n for n, label in enumerate(sorted({row.label for board in boards for row in board.rows}))}


def cost_figures(
    board: Board, tasks: Iterable[PrimaryMeasure], costs: Mapping[str, RelativeCost], numbers: Mapping[str, int]
) -> list[Figure]:
    """A figure for each of these tasks on which high or low is better; rows whose cost is not known are in none of
    them."""
    base = reference(board)
    figures: list[Figure] = []
    for task in tasks if base else ():
        points = [
            CostPoint(numbers[row.label], row.label, cost, cell.mean, cell.low, cell.high)
            for row in board.rows
            if (cost := costs[row.label].median) is not None and (cell := row.cell(task)).mean is not None
        ]
        if base and task.better != "neither" and len(points) > 1:
            x = Axis(f"Cost, as a multiple of {base.label}'s")
            y = Axis(f"{task.title} ({task.protocol}, {task.metric})", task.unit == "percent")
            figures.append(cost_figure(points, x, y, f"cost {board.setup_id}", lower_is_better=task.better == "lower"))
    return figures


def named_numbers(figures: Iterable[Figure]) -> dict[int, str]:
    """The names of the numbers in these figures, in order."""
    return dict(sorted({trace.style + 1: trace.label for figure in figures for trace in figure.series}.items()))


def cost_figure(points: Sequence[CostPoint], x: Axis, y: Axis, name: str, lower_is_better: bool = False) -> Figure:
    """The figure of one task; `name` makes its ids unique on the site."""
    costs = [point.cost for point in points]
    front = pareto([(point.cost, point.quality) for point in points], "lower" if lower_is_better else "higher")
    series = []
    for number, point in enumerate(points):
        low, high = ([] if bound is None else [bound] for bound in (point.low, point.high))
        trace = Trace(point.label, [point.cost], [point.quality], "mean", point.row, low=low, high=high)
        series.append(replace(trace, part="front") if number in front else trace)
    caption = (
        f"Cheaper is to the left, {'lower' if lower_is_better else 'higher'} is better. The line is the Pareto front: "
        "no method is both cheaper and better, by means alone."
    )
    caption += " Vertical lines: intervals of the quality." if any(trace.low for trace in series) else ""
    short = slug(f"cost {y.name}")
    x = replace(x, log=0 < min(costs) * LOG_FROM < max(costs))
    return Figure(f"{unique(name)}-{short}", short, "cost", f"{y.name} against cost", caption, x, y, series)
