"""Soft average precision and nDCG: rankings of items that are relevant to a degree, cut to what the two see."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import UsageError

Floats = NDArray[np.float64]
Whole = NDArray[np.integer[Any]]
Numbers = NDArray[np.generic]
SIDES = {"v2t": ("clip", "sentence"), "t2v": ("sentence", "clip")}
"""Each way's queries and items."""
BLOCK = 2**17
"""Numbers sorted at a time."""


class Ranking(NamedTuple):
    """What decides the metrics of some queries; rows follow each other query by query.

    A sum, and not the relevancies up to there, is kept for each fully relevant item: that is all precision reads. Of
    `gains` and `ideal` only the proportions count, so that they may be in any unit.
    """

    full: Whole  # [queries], items of relevancy 1
    ranks: Whole  # the rank of each of them, 1 is best
    sums: Floats  # the relevancies up to each of them
    relevant: Whole  # [queries], items of relevancy above 0
    gains: Floats  # the relevancies in that many first places
    ideal: Floats  # the relevancies above 0, largest first


def average_precision(ranking: Ranking) -> Floats:
    """Of each query: the mean of sums / rank over its fully relevant items; NaN where it has none."""
    return _ratio(_each(ranking.sums / ranking.ranks, ranking.full), ranking.full)


def gain(ranking: Ranking) -> Floats:
    """nDCG of each query: linear gain, discount 1 / log2(rank + 1); NaN where nothing is relevant."""
    starts = np.cumsum(ranking.relevant) - ranking.relevant
    position = np.arange(1, len(ranking.gains) + 1) - np.repeat(starts, ranking.relevant)
    discount = 1 / np.log2(position + 1)
    gained, ideal = (_each(values * discount, ranking.relevant) for values in (ranking.gains, ranking.ideal))
    return np.minimum(_ratio(gained, ideal), 1.0)


def means(rankings: Mapping[str, Iterable[Ranking]]) -> dict[str, float]:
    """mAP and nDCG of each way, over the queries that have one, and the means of the two ways."""
    judged = {way: _judged(way, blocks) for way, blocks in rankings.items()}
    scores: dict[str, float] = {}
    for number, metric in enumerate(("map", "ndcg")):
        ways = {f"{metric}_{way}": float(np.nanmean(values[number])) for way, values in judged.items()}
        scores |= {**ways, metric: float(np.mean(list(ways.values())))}
    return scores


def rank(similarity: Numbers, relevancy: Numbers, full_relevancy: float, way: str) -> Iterator[Ranking]:
    """Rankings of the rows, a block at a time; of equal similarity the least relevant first.

    Relevancies and sums are in units in which `full_relevancy` is 1.
    """
    place = np.arange(1, similarity.shape[1] + 1)
    rows = max(1, BLOCK // similarity.shape[1])
    for start in range(0, len(similarity), rows):
        scores, worth = (np.ascontiguousarray(x[start : start + rows], np.float64) for x in (similarity, relevancy))
        _check(scores, worth, full_relevancy, start, way)
        ranked = _ranked(scores, worth)
        full = ranked == full_relevancy
        relevant = (worth > 0).sum(1)
        first = place <= relevant[:, None]
        yield Ranking(
            full=full.sum(1),
            ranks=np.broadcast_to(place, full.shape)[full],
            sums=np.cumsum(ranked, axis=1)[full],
            relevant=relevant,
            gains=ranked[first],
            ideal=-np.sort(-worth, axis=1)[first],
        )


def _judged(way: str, blocks: Iterable[Ranking]) -> tuple[Floats, Floats]:
    each = [(average_precision(block), gain(block)) for block in blocks]
    precision, gained = (np.concatenate(values) for values in zip(*each, strict=True))
    if np.isnan(precision).all():
        query, item = SIDES[way]
        raise UsageError(f"multi-instance retrieval: no {query} has a {item} of relevancy 1, so there is no precision.")
    return precision, gained


def _each(values: Floats, lengths: Whole) -> Floats:
    """The sum of each query's own values."""
    query = np.repeat(np.arange(len(lengths)), lengths)
    return np.asarray(np.bincount(query, values, minlength=len(lengths)), np.float64)


def _ratio(total: Floats, count: Floats | Whole) -> Floats:
    ratios = np.full(len(total), np.nan)
    np.divide(total, count, out=ratios, where=count > 0)
    return ratios


def _ranked(scores: Floats, worth: Floats) -> Floats:
    """Relevancies by falling score; of equal scores the least relevant first."""
    order = np.argsort(-scores, axis=1)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    tied = (sorted_scores[:, 1:] == sorted_scores[:, :-1]).any(1)
    if tied.any():
        order[tied] = np.lexsort((worth[tied], -scores[tied]), axis=1)
    return np.take_along_axis(worth, order, axis=1)


def _check(scores: Floats, worth: Floats, full_relevancy: float, start: int, way: str) -> None:
    query, item = SIDES[way]
    for name, part, bad in (
        ("similarity", scores, ~np.isfinite(scores)),
        ("relevancy", worth, ~((worth >= 0) & (worth <= full_relevancy))),
    ):
        if bad.any():
            i, j = (int(n) for n in np.argwhere(bad)[0])
            right = "a finite number" if name == "similarity" else "a number from 0 to 1"
            raise UsageError(
                f"multi-instance retrieval: {name} of {query} {start + i} and {item} {j} is {part[i, j]}, not {right}."
            )
