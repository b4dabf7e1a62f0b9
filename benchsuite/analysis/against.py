"""Two rows of a board beside each other on one measure: one verdict, by the rule that ranks the board.

Better and worse are significant differences: paired t-tests, Holm over all pairs of rows of the measure, so a verdict
never contradicts a rank. Of other differences those are equivalent whose 95% interval lies within the recipe's smallest
difference of interest, given three seeds.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from benchsuite.analysis.boards import Board, BoardRow, PrimaryMeasure, paired
from benchsuite.analysis.costs import reference
from benchsuite.analysis.stats import Paired
from benchsuite.planning.recipe import Primary

Outcome = Literal["better", "worse", "equivalent", "undecided", "not compared"]


@dataclass(frozen=True)
class Against:
    """A row, what it is compared with, and the answer."""

    board: Board
    row: BoardRow
    reference: BoardRow
    task: PrimaryMeasure
    pair: Paired
    """The row minus the reference."""
    outcome: Outcome
    interest: float | None = None
    """The smallest difference of interest, if a recipe of the board states one."""

    @property
    def gains(self) -> Paired:
        """The row minus the reference, turned where lower is better."""
        return self.pair.turned if self.task.better == "lower" else self.pair

    @property
    def gain(self) -> float | None:
        """By how much the row is ahead, also where lower is better; a fraction where the measure is in percent."""
        return self.gains.difference


def against(
    board: Board, row: BoardRow, other: BoardRow, task: PrimaryMeasure, interest: Mapping[str, Primary]
) -> Against:
    """A row against another one on a measure that ranks; `interest` is by protocol, as recipes state it."""
    pair = paired(board, row, other, task)
    stated = interest.get(task.protocol)
    known = stated.difference if stated and task.unit == "percent" else None
    return Against(board, row, other, task, pair, _outcome(board, row, other, task, pair, known), known)


def against_reference(board: Board, interest: Mapping[str, Primary]) -> list[Against]:
    """Each row of a board against the reference, measure by measure; none if the board has no reference."""
    base = reference(board)
    ranked = [task for task in board.tasks if task.better != "neither"]
    rows = [row for row in board.rows if row is not base] if base else []
    return [against(board, row, base, task, interest) for task in ranked for row in rows if base]


def principal(rows: Iterable[BoardRow]) -> BoardRow:
    """The configuration that stands for a method on a board: all of its numbers tuned if one is so, else its defaults,
    with most seeds; of equal ones the first. At least one row."""

    def place(row: BoardRow) -> tuple[bool, bool, int]:
        tuned, plain = row.record.tuned, row.label == row.record.method.title
        return tuned is not None and bool(tuned.searched), plain, len(row.records)

    return max(rows, key=place)


def outcomes(found: Iterable[Against]) -> Counter[Outcome]:
    """How many comparisons ended in which way."""
    return Counter(one.outcome for one in found)


def decisions(board: Board, interest: Mapping[str, Primary]) -> dict[str, Any]:
    """What a page needs to give the verdict on any two rows, ready for JSON. For each measure of the board: `ranks`,
    whether it ranks; `decided`, pairs of numbers of rows of which the first is significantly better; `interest`, the
    smallest difference of interest or null."""
    number = {row.label: n for n, row in enumerate(board.rows)}
    decided: list[list[list[int]]] = []
    stated: list[float | None] = []
    for task in board.tasks:
        found = []
        for ours, theirs in combinations(board.rows if task.better != "neither" else (), 2):
            one = against(board, ours, theirs, task, interest)
            if one.outcome in ("better", "worse"):
                pair = (ours, theirs) if one.outcome == "better" else (theirs, ours)
                found.append([number[row.label] for row in pair])
        decided.append(found)
        known = interest.get(task.protocol)
        stated.append(known.difference if known and task.unit == "percent" else None)
    return {"ranks": [task.better != "neither" for task in board.tasks], "decided": decided, "interest": stated}


def _outcome(
    board: Board, row: BoardRow, other: BoardRow, task: PrimaryMeasure, pair: Paired, interest: float | None
) -> Outcome:
    rank = board.rank(row, task)
    if rank is None or pair.difference is None:
        return "not compared"
    if other.label not in rank.tied_with:
        return "better" if (pair.difference > 0) == (task.better == "higher") else "worse"
    if pair.too_small or not interest or pair.low is None or pair.high is None:
        return "undecided"
    return "equivalent" if -interest <= pair.low <= pair.high <= interest else "undecided"
