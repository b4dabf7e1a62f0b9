"""How far the rows of a column stand in the published order: Kendall's tau-b, with its interval over seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from benchsuite.analysis.stats import ALPHA, MINIMUM, BySeed, Floats
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Column
from benchsuite.streams import numpy_stream

ROWS = 3
"""Rows below which there is no order to speak of."""
RESAMPLES = 5_000
"""Bootstrap samples of the seeds."""
DECIMALS = 12
"""Of values beside the greatest one: what differs by less differs by rounding, and is tied."""


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
    found = replace(found, tau=float(test.statistic), p=float(test.pvalue))
    if len(seeds) < MINIMUM:
        have = f"{len(seeds)} shared seed{'s' * (len(seeds) > 1)}"
        return replace(found, reason=f"{have}; an interval needs at least {MINIMUM}")
    taus = _taus(theirs, _rounded(_drawn(len(seeds)) @ values.T))
    low, high = np.quantile(taus, (alpha / 2, 1 - alpha / 2), method="inverted_cdf").tolist()
    return replace(found, low=low, high=high)


def _taus(x: Floats, ys: Floats) -> Floats:
    """Kendall's tau-b of `x` [rows] with each line of `ys` [samples, rows]: scipy takes one line at a time."""
    first, second = np.triu_indices(len(x), 1)
    a, b = np.sign(x[first] - x[second]), np.sign(ys[:, first] - ys[:, second])
    pairs = np.sqrt(np.count_nonzero(a) * np.count_nonzero(b, axis=1))
    taus: Floats = np.divide(b @ a, pairs, out=np.zeros(len(ys)), where=pairs > 0)
    return taus


@lru_cache(maxsize=64)
def _drawn(n: int) -> Floats:
    """The weight of each of n seeds in each bootstrap sample, [samples, seeds]."""
    return numpy_stream(0, "seeds", n).multinomial(n, np.full(n, 1 / n), size=RESAMPLES) / n


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
