"""A board as small plain data, from which a page can compare any of its rows seed by seed."""

from typing import Any

from benchsuite.analysis.boards import Board, Standing
from benchsuite.analysis.headline import Headline
from benchsuite.analysis.paired import Paired, compare, t_quantile

DIGITS = 6


def comparison(board: Board) -> dict[str, Any]:
    """Everything that a paired comparison needs, ready for JSON; percent columns as fractions.

    `seeds` are all that any row has; `values` of a row are a list for each task, in the order of `seeds`, null where
    the row lacks one. `apart` has two rows' numbers and the seeds at which they may not be paired; `quantiles`, by
    number of pairs, how many standard errors the 95% interval of their mean difference reaches to either side.
    """
    seeds = board.seeds
    number = {one.label: i for i, one in enumerate(board.standings)}
    return {
        "name": board.name,
        "title": board.title,
        "tasks": [_task(task) for task in board.tasks],
        "seeds": seeds,
        "rows": [_row(one, board, seeds) for one in board.standings],
        "apart": [[number[a], number[b], sorted(some)] for (a, b), some in board.apart.items()],
        "quantiles": {str(n): round(t_quantile(n), DIGITS) for n in range(2, len(seeds) + 1)},
    }


def paired(board: Board, ours: Standing, theirs: Standing, task: Headline) -> Paired:
    """Two rows on a task, at the seeds that meant the same to both."""
    pair = (ours.label, theirs.label)
    left_out = {seed for key in (pair, pair[::-1]) for seed in board.apart.get(key, ())}
    a, b = ({seed: v for seed, v in one.values(task).items() if seed not in left_out} for one in (ours, theirs))
    return compare(a, b)


def _task(task: Headline) -> dict[str, str]:
    named = {"id": task.protocol, "metric": task.metric, "title": task.title}
    return {**named, "unit": task.unit, "better": task.better}


def _row(one: Standing, board: Board, seeds: list[int]) -> dict[str, Any]:
    by_task = [one.values(task) for task in board.tasks]
    values = [[round(by_seed[seed], DIGITS) if seed in by_seed else None for seed in seeds] for by_seed in by_task]
    return {"id": one.method_id, "method": one.method, "label": one.label, "values": values}
