"""How far the rows of a column stand in the published order: Kendall's tau-b."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchsuite.analysis.stats import BySeed, Floats
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Column

ROWS = 3
"""Rows below which there is no order to speak of."""
DECIMALS = 12
"""Of values beside the greatest one: what differs by less differs by rounding, and is tied."""


@dataclass(frozen=True)
class RankAgreement:
    """1: our means stand in the published order; -1: in the opposite one. `reason` says why there is no number."""

    tau: float | None = None
    p: float | None = None
    """Of a random order of our rows to agree as much or more: one-sided, as the paper's order is expected."""
    rows: int = 0
    """Rows with a published number and ours."""
    seeds: tuple[int, ...] = ()
    """Seeds that all these rows have: the means are over them."""
    reason: str = ""


def kendall(published: Sequence[float | None], measured: Sequence[BySeed]) -> RankAgreement:
    """Agreement of the published numbers with ours, row by row."""
    rows = [(theirs, ours) for theirs, ours in zip(published, measured, strict=True) if theirs is not None and ours]
    if len(rows) < ROWS:
        have = "1 row has" if len(rows) == 1 else f"{len(rows)} rows have"
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
    return replace(found, tau=float(test.statistic), p=float(test.pvalue))


def _rounded(values: Floats) -> Floats:
    rounded: Floats = np.round(values / float(np.abs(values).max() or 1.0), DECIMALS)
    return rounded


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
