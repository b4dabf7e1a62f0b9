"""Of all rows of a column at once: do they differ at all, how often is each above the reference, do they stand in the
published order? Friedman's test, the probability of improvement, and Kendall's tau-b."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np

from benchsuite.analysis.boards import Board, BoardRow
from benchsuite.analysis.pairing import unpairable
from benchsuite.analysis.ranking import Better, Unpairable
from benchsuite.analysis.stats import ALPHA, MINIMUM, BySeed, Floats
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Column
from benchsuite.papers.claim import reference_of
from benchsuite.streams import numpy_stream

ROWS = 3
"""Rows below which the question is that of a pair."""
RESAMPLES = 5_000
"""Bootstrap samples of the seeds."""
DECIMALS = 12
"""Of values beside the greatest one: what differs by less differs by rounding, and is tied."""

T = TypeVar("T")


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of one column: blocks are seeds. `reason` says why there is no number."""

    rows: int
    """Rows with values."""
    seeds: tuple[int, ...] = ()
    """Seeds that all of these have and at which all may be paired."""
    statistic: float | None = None
    """Chi-square, corrected for ties."""
    w: float | None = None
    """Kendall's W: 0 where each seed orders the rows in another way, 1 where all order them alike."""
    p: float | None = None
    """Of the chi-square distribution."""
    reason: str = ""


def friedman(values: Mapping[str, BySeed], unpairable: Unpairable | None = None) -> Friedman:
    """Whether any row differs from any other, by the ranks of the rows within each seed; rows without values are left
    out. `unpairable`: see `pairing.unpairable`."""
    measured = {name: by_seed for name, by_seed in values.items() if by_seed}
    found = Friedman(len(measured))
    if len(measured) < ROWS:
        return replace(found, reason=f"{_counted(len(measured), 'row')} values; the test needs at least {ROWS}")
    skipped = {seed for pair, seeds in (unpairable or {}).items() if measured.keys() >= set(pair) for seed in seeds}
    seeds = tuple(sorted(set.intersection(*(set(by_seed) for by_seed in measured.values())) - skipped))
    found = replace(found, seeds=seeds)
    if len(seeds) < MINIMUM:
        have = _counted(len(seeds), "seed", "is", "are")
        return replace(found, reason=f"{have} shared by all rows; the test needs at least {MINIMUM}")
    by_row = _rounded(np.array([[by_seed[seed] for seed in seeds] for by_seed in measured.values()]))
    if not np.ptp(by_row, axis=0).any():
        return replace(found, reason="all rows are equal on every seed")
    from scipy.stats import friedmanchisquare  # half a second

    test = friedmanchisquare(*by_row)
    statistic = float(test.statistic)
    return replace(found, statistic=statistic, w=statistic / len(seeds) / (len(by_row) - 1), p=float(test.pvalue))


@dataclass(frozen=True)
class Improvement:
    """How often a run of the row is better than one of the reference."""

    probability: float
    """Share of all pairs of a run of each, whatever their seeds, in which the row's is better; ties count half."""
    low: float | None
    high: float | None
    """Ends of the percentile interval of a bootstrap over seeds, resampled jointly for both rows. With few seeds it is
    too narrow."""
    seeds: tuple[int, ...]
    """Seeds that both have and at which they may be paired."""


def improvement(ours: BySeed, theirs: BySeed, better: Better = "higher", alpha: float = ALPHA) -> Improvement | None:
    """The probability of improvement of Agarwal et al. (2021, "Deep reinforcement learning at the edge of the
    statistical precipice"), over the seeds of both; none if they share none.

    As there, runs are compared across seeds as well: it says how far two methods' runs overlap, and not whether their
    paired difference is significant.
    """
    seeds = tuple(sorted(ours.keys() & theirs.keys()))
    if not seeds:
        return None
    a, b = _rounded(np.array([[row[seed] for seed in seeds] for row in (ours, theirs)]))
    wins = (np.sign(a[:, None] - b) * (1 if better == "higher" else -1) + 1) / 2  # [ours, theirs]
    probability = float(wins.mean())
    if len(seeds) < MINIMUM:
        return Improvement(probability, None, None, seeds)
    drawn = _drawn(len(seeds))
    low, high = _ends(((drawn @ wins) * drawn).sum(axis=1), alpha)
    return Improvement(probability, low, high, seeds)


@dataclass(frozen=True)
class RankAgreement:
    """1: our means stand in the published order; -1: in the opposite one. `reason` says why there is no number."""

    tau: float | None = None
    low: float | None = None
    high: float | None = None
    """Ends of the percentile interval of a bootstrap over seeds, not over rows: these rows are what the paper printed.
    With few seeds it is too narrow."""
    p: float | None = None
    """Of a random order of our rows to agree as much or more: one-sided, as the paper's order is expected."""
    rows: int = 0
    """Rows with a published number and ours."""
    seeds: tuple[int, ...] = ()
    """Seeds that all these rows have: the means are over them."""
    reason: str = ""


def kendall(published: Sequence[float | None], measured: Sequence[BySeed], alpha: float = ALPHA) -> RankAgreement:
    """Agreement of the published numbers with ours, row by row; seeds are resampled jointly for all rows."""
    rows = [(theirs, ours) for theirs, ours in zip(published, measured, strict=True) if theirs is not None and ours]
    if len(rows) < ROWS:
        have = _counted(len(rows), "row")
        return RankAgreement(rows=len(rows), reason=f"{have} both numbers; an order needs at least {ROWS}")
    seeds = tuple(sorted(set.intersection(*(set(ours) for _, ours in rows))))
    found = RankAgreement(rows=len(rows), seeds=seeds)
    if not seeds:
        return replace(found, reason="no seed is shared by all rows")
    theirs = np.array([number for number, _ in rows])
    values = np.array([[ours[seed] for seed in seeds] for _, ours in rows])  # [rows, seeds]
    means = _rounded(values.mean(axis=1))
    for whose, numbers in (("published numbers", theirs), ("of our means", means)):
        if not np.ptp(numbers):
            return replace(found, reason=f"all {whose} are equal: there is no order")
    from scipy.stats import kendalltau

    test = kendalltau(theirs, means, alternative="greater")
    found = replace(found, tau=float(test.statistic), p=float(test.pvalue))
    if len(seeds) < MINIMUM:
        have = _counted(len(seeds), "shared seed", "", "")
        return replace(found, reason=f"{have}; an interval needs at least {MINIMUM}")
    low, high = _ends(_taus(theirs, _rounded(_drawn(len(seeds)) @ values.T)), alpha)
    return replace(found, low=low, high=high)


def _taus(x: Floats, ys: Floats) -> Floats:
    """Kendall's tau-b of `x` [rows] with each line of `ys` [samples, rows]: scipy takes one line at a time."""
    first, second = np.triu_indices(len(x), 1)
    a, b = np.sign(x[first] - x[second]), np.sign(ys[:, first] - ys[:, second])
    pairs = np.sqrt(np.count_nonzero(a) * np.count_nonzero(b, axis=1))
    taus: Floats = np.divide(b @ a, pairs, out=np.zeros(len(ys)), where=pairs > 0)
    return taus


def _ends(samples: Floats, alpha: float) -> tuple[float, float]:
    low, high = np.quantile(samples, (alpha / 2, 1 - alpha / 2), method="inverted_cdf").tolist()
    return low, high


@lru_cache(maxsize=64)
def _drawn(n: int) -> Floats:
    """The weight of each of n seeds in each bootstrap sample, [samples, seeds]."""
    return numpy_stream(0, "seeds", n).multinomial(n, np.full(n, 1 / n), size=RESAMPLES) / n


def _rounded(values: Floats) -> Floats:
    rounded: Floats = np.round(values / float(np.abs(values).max() or 1.0), DECIMALS)
    return rounded


def _counted(n: int, noun: str, one: str = "has", many: str = "have") -> str:
    return f"{n} {noun} {one}".rstrip() if n == 1 else f"{n} {noun}s {many}".rstrip()


@dataclass(frozen=True)
class ColumnTest:
    """A column of a board."""

    column: Column
    friedman: Friedman
    improvements: Mapping[str, Improvement]
    """By row, over the board's reference; none where the column has no better direction."""


@dataclass(frozen=True)
class BoardTest:
    """Rows that may be compared, on each column that is measured."""

    backbone: str
    variant: str
    reference: str
    """The row that others are compared with; "" if it was not run."""
    columns: list[ColumnTest]

    @property
    def reason(self) -> str:
        """Why no column is tested, where it is the same for all."""
        return _common(test.friedman.reason for test in self.columns) or ""

    @property
    def size(self) -> tuple[int, int] | None:
        """Rows and seeds of the test, where they are the same for all columns."""
        return _common((test.friedman.rows, len(test.friedman.seeds)) for test in self.columns)


def _common(values: Iterable[T]) -> T | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=1)  # a page shows the tests, and exports them
def table_column_tests(view: TableView) -> list[BoardTest]:
    """Each board of a table; its reference is that of `papers.claim.reference_of`."""
    tests = []
    for (backbone, variant), rows in view.boards.items():
        first = reference_of(view.table, backbone, rows[0].variant)
        reference = next((row.shown for row in rows if first and row.key == first.key), "")
        columns = []
        for number, column in enumerate(view.columns):
            cells = {row.shown: row.cells[number] for row in rows}
            if any(cell.n for cell in cells.values()):
                skipped = unpairable({name: cell.records for name, cell in cells.items()}, view.table.factors)
                values = {name: cell.values for name, cell in cells.items()}
                columns.append(_column_test(column, values, reference, skipped))
        tests.append(BoardTest(backbone, variant, reference, columns))
    return tests


def board_column_tests(board: Board, reference: BoardRow) -> BoardTest:
    """All of its tasks."""
    columns = [
        _column_test(
            task.column, {row.label: row.values(task) for row in board.rows}, reference.label, board.unpairable
        )
        for task in board.tasks
    ]
    return BoardTest(board.title, "", reference.label, columns)


def _column_test(column: Column, values: Mapping[str, BySeed], reference: str, unpairable: Unpairable) -> ColumnTest:
    improvements = {}
    if column.better != "neither":
        for name, ours in values.items():
            skipped = unpairable.get((min(name, reference), max(name, reference)), ())
            paired = {seed: value for seed, value in ours.items() if seed not in skipped}
            found = improvement(paired, values.get(reference, {}), column.better) if name != reference else None
            if found:
                improvements[name] = found
    return ColumnTest(column, friedman(values, unpairable), improvements)


@dataclass(frozen=True)
class ColumnAgreement:
    """How far the order of the rows of one column is the published one."""

    backbone: str
    variant: str
    column: Column
    agreement: RankAgreement


def agreements(view: TableView) -> list[ColumnAgreement]:
    """For each column and each setup's rows, how far our order is the published one."""
    compared = []
    for (backbone, variant), rows in view.boards.items():
        for number, column in enumerate(view.columns):
            cells = [row.cells[number] for row in rows]
            published = any(cell.source for cell in cells)
            if column.better != "neither" and published and any(cell.n for cell in cells):
                order = kendall([cell.published for cell in cells], [cell.values for cell in cells])
                compared.append(ColumnAgreement(backbone, variant, column, order))
    return compared
