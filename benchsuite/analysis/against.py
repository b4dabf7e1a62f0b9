"""Rows of a board beside each other: what training costs, and who is better on a measure, by the rule that ranks them.

Better and worse are significant differences: paired t-tests, Holm over all pairs of rows of the measure, so a verdict
never contradicts a rank. Of other differences those are equivalent whose 95% interval lies within the recipe's smallest
difference of interest, given three seeds.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from benchsuite.analysis.boards import Board, BoardRow, PrimaryMeasure, Runs, paired
from benchsuite.analysis.labels import is_plain
from benchsuite.analysis.stats import Paired
from benchsuite.planning.recipe import Primary
from benchsuite.records.method_version import version_state
from benchsuite.records.schema import Record
from benchsuite.setup import REFERENCES

Outcome = Literal["better", "worse", "equivalent", "undecided", "not compared"]
SAME_MACHINE = ("processor", "device", "threads", "processes")
"""What must be alike for times to be comparable."""


@dataclass(frozen=True)
class RelativeCost:
    """What training with a configuration costs, and how many times that of the reference it is."""

    ratios: Mapping[int, float]
    """By seed: this run's time over that of the reference's run with the same seed."""
    reason: str = ""
    """Why there is no ratio at all, if so."""
    note: str = ""
    """Why it is not CPU seconds, which do not depend on other work on the machine, if so."""
    peak_memory: int | None = None
    """Bytes: the most of any seed."""
    parameters: int | None = None
    """Trained ones, the method's own included."""

    @property
    def median(self) -> float | None:
        return statistics.median(self.ratios.values()) if self.ratios else None

    @property
    def low(self) -> float | None:
        return min(self.ratios.values(), default=None)

    @property
    def high(self) -> float | None:
        return max(self.ratios.values(), default=None)


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
    def all_tuned(self) -> bool:
        """Whether searches found all numbers of both."""
        return all_tuned(self.row) and all_tuned(self.reference)

    @property
    def gains(self) -> Paired:
        """The row minus the reference, turned where lower is better."""
        return self.pair.turned if self.task.better == "lower" else self.pair

    @property
    def gain(self) -> float | None:
        """By how much the row is ahead, also where lower is better; a fraction where the measure is in percent."""
        return self.gains.difference


def costs(board: Board) -> dict[str, RelativeCost]:
    """The cost of each row of a board by label."""
    beside = reference(board)
    name = REFERENCES[board.setup.towers]
    why = "" if beside else f"{name} has no run with the steps of this setup"
    return {row.label: cost(row.records, beside.records if beside else {}, why) for row in board.rows}


def reference(board: Board, of: BoardRow | None = None) -> BoardRow | None:
    """The row that others are compared with: of several of the current version the one whose numbers were all tuned,
    if one was, then the one with most runs. Of a row whose numbers were all tuned it is first of all one whose search
    had as many trials.

    One that trained longer is no reference: the others had less compute.
    """
    name = REFERENCES[board.setup.towers]
    rows = [row for row in board.rows if row.method == name and row.longer == 1]
    asked = _trials(of) if of and all_tuned(of) else None
    return max(rows, key=lambda row: (all_tuned(row) and _trials(row) == asked, _standard(row)), default=None)


def cost(ours: Runs, theirs: Runs, reason: str = "") -> RelativeCost:
    """Of the runs of a configuration, beside those of the reference under the same setup."""
    common = {seed: (ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())}
    note = next((why for pair in common.values() for record in pair if (why := _no_cpu_seconds(record))), "")
    basis = "seconds" if note else "cpu_seconds"
    skipped = {seed: why for seed, pair in common.items() if (why := _not_comparable(*pair, basis))}
    ratios = {seed: a.cost[basis] / b.cost[basis] for seed, (a, b) in common.items() if seed not in skipped}
    if not ratios:
        reason = reason or next(iter(skipped.values()), "no seed shared with the reference")
    return RelativeCost(
        ratios=ratios,
        reason=reason,
        note=note,
        peak_memory=max(_known(ours, "peak_memory_bytes"), default=None),
        parameters=max(_known(ours, "trainable_parameters"), default=None),
    )


def _standard(row: BoardRow) -> tuple[bool, bool, int, bool, bool, str]:
    """What makes a row the one to compare with; a label without settings is that of the method's defaults."""
    record, current = row.record, version_state(row.record.method) == "current"
    plain, rate = row.label == record.method.title, record.tuned is not None
    return current, all_tuned(row), len(row.records), rate, plain, record.method_id


def _trials(row: BoardRow) -> int:
    return row.record.tuned.trials if row.record.tuned else 0


def all_tuned(row: BoardRow) -> bool:
    """Whether a search found all of a row's numbers, not the learning rate alone."""
    return row.record.tuned is not None and bool(row.record.tuned.searched)


def _known(runs: Runs, name: str) -> list[Any]:
    return [record.cost[name] for record in runs.values() if record.cost.get(name) is not None]


def _no_cpu_seconds(record: Record) -> str:
    if (device := record.environment.get("device", "cpu")) != "cpu":
        return f"in seconds, since the work is done by {device}"
    return "" if "cpu_seconds" in record.cost else "in seconds, since a record has no CPU seconds"


def _not_comparable(ours: Record, theirs: Record, basis: str) -> str:
    a, b = ours.environment, theirs.environment
    differing = [f"{name} {a.get(name)} against {b.get(name)}" for name in SAME_MACHINE if a.get(name) != b.get(name)]
    if differing:
        return f"measured on different machines: {', '.join(differing)}"
    return "" if ours.cost.get(basis) and theirs.cost.get(basis) else "a record does not say how long it took"


def against(
    board: Board, row: BoardRow, other: BoardRow, task: PrimaryMeasure, interest: Mapping[str, Primary]
) -> Against:
    """A row against another one on a measure that ranks; `interest` is by protocol, as recipes state it."""
    pair = paired(board, row, other, task)
    stated = interest.get(task.protocol)
    known = stated.difference if stated and task.unit == "percent" else None
    return Against(board, row, other, task, pair, _outcome(board, row, other, task, pair, known), known)


def against_reference(board: Board, interest: Mapping[str, Primary]) -> list[Against]:
    """Each row of a board against its reference, measure by measure; none if the board has no reference."""
    ranked = [task for task in board.tasks if task.better != "neither"]
    pairs = [(row, base) for row in board.rows if (base := reference(board, row)) and base is not row]
    return [against(board, row, base, task, interest) for task in ranked for row, base in pairs]


def principal(rows: Iterable[BoardRow]) -> BoardRow:
    """The configuration that stands for a method on a board: all of its numbers tuned if one is so, else its defaults,
    with most seeds, then with most trials; of equal ones the first. At least one row."""

    def place(row: BoardRow) -> tuple[bool, bool, int, int]:
        return all_tuned(row), is_plain(row.record), len(row.records), _trials(row)

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
            rank = board.rank(ours, task)
            if rank is None or theirs.label in rank.tied_with:  # most are, and each comparison takes its time
                continue
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
    if pair.too_small or not interest or not pair.sd or pair.low is None or pair.high is None:
        return "undecided"
    return "equivalent" if -interest <= pair.low <= pair.high <= interest else "undecided"
