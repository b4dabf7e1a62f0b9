"""What a method costs against how good it is, with the points that none beats in both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchsuite.analysis.boards import Board, PrimaryMeasure
from benchsuite.analysis.costs import Cost, pareto, reference
from benchsuite.report.figures.model import Axis, Figure, Trace, slug, unique

LOG_FROM = 8
"""How many times the cheapest the dearest must cost for the axis to be logarithmic."""


@dataclass(frozen=True)
class CostPoint:
    """One method of a setup; fractions where quality is in percent."""

    label: str
    cost: float
    """A multiple of some reference's."""
    quality: float
    low: float | None
    high: float | None
    """The interval of the quality; none if it is not known."""
    on_front: bool


def cost_figure(
    points: Sequence[CostPoint],
    quality: str,
    name: str,
    cost: str = "Cost, as a multiple of InfoNCE's",
    percent: bool = True,
    lower_is_better: bool = False,
) -> list[Figure]:
    """One figure, or none for fewer than two points. `name` makes its ids unique on the site."""
    if len(points) < 2:
        return []
    least, most = (end(point.cost for point in points) for end in (min, max))
    log = 0 < least * LOG_FROM < most
    series = [
        Trace(
            point.label,
            [point.cost],
            [point.quality],
            part="front" if point.on_front else "mean",
            low=[] if point.low is None or point.high is None else [point.low],
            high=[] if point.low is None or point.high is None else [point.high],
        )
        for point in points
    ]
    better = "lower" if lower_is_better else "higher"
    bounds = " Upright lines are intervals of the quality." if any(one.low for one in series) else ""
    caption = (
        f"Cheaper is to the left, {better} is better. The line joins what nothing else beats in both, by means "
        f"alone (the Pareto front).{bounds}"
    )
    short, title = slug(f"cost {quality}"), f"{quality} against cost"
    x, y = Axis(cost, log=log), Axis(quality, percent)
    return [Figure(f"{unique(name)}-{short}", short, "cost", title, caption, x, y, series)]


def cost_figures(board: Board, costs: Mapping[str, Cost]) -> list[Figure]:
    """Rows whose cost is not known are in none of them."""
    beside = reference(board)
    if beside is None:
        return []
    return [
        figure
        for task in board.tasks
        if task.better != "neither"
        for figure in cost_figure(
            cost_points(board, task, costs),
            quality=f"{task.title} ({task.protocol}, {task.metric})",
            name=f"cost {board.setup_id}",
            cost=f"Cost, as a multiple of {beside.label}'s",
            percent=task.unit == "percent",
            lower_is_better=task.better == "lower",
        )
    ]


def cost_points(board: Board, task: PrimaryMeasure, costs: Mapping[str, Cost]) -> list[CostPoint]:
    """A point a row."""
    known = [
        (one.label, cost, one.cell(task).mean, one.cell(task))
        for one in board.rows
        if (cost := costs[one.label].median) is not None
    ]
    rows = [(label, cost, mean, cell) for label, cost, mean, cell in known if mean is not None]
    front = set(pareto([(cost, mean) for _, cost, mean, _ in rows], "lower" if task.better == "lower" else "higher"))
    return [
        CostPoint(label, cost, mean, cell.low, cell.high, number in front)
        for number, (label, cost, mean, cell) in enumerate(rows)
    ]
