"""Cost against quality for a board: a figure for each task that ranks."""

from collections.abc import Mapping

from benchsuite.analysis.boards import Board
from benchsuite.analysis.costs import Cost, pareto, reference
from benchsuite.analysis.headline import Headline
from benchsuite.report.figures import CostPoint, Figure, cost_figure


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


def cost_points(board: Board, task: Headline, costs: Mapping[str, Cost]) -> list[CostPoint]:
    """A point a row."""
    known = [
        (one.label, cost, one.cell(task).mean, one.cell(task))
        for one in board.standings
        if (cost := costs[one.label].median) is not None
    ]
    rows = [(label, cost, mean, cell) for label, cost, mean, cell in known if mean is not None]
    front = set(pareto([(cost, mean) for _, cost, mean, _ in rows], "lower" if task.better == "lower" else "higher"))
    return [
        CostPoint(label, cost, mean, cell.low, cell.high, number in front)
        for number, (label, cost, mean, cell) in enumerate(rows)
    ]
