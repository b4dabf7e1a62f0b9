"""Soft average precision and nDCG: rankings of items that are relevant to a degree, cut to what the two see; stored as
whole numbers beside a record, and read back.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import RecordError, UsageError

Floats = NDArray[np.float64]
Whole = NDArray[np.integer[Any]]
Numbers = NDArray[np.generic]
Arrays = Mapping[str, Whole]
SIDES = {"v2t": ("clip", "sentence"), "t2v": ("sentence", "clip")}
"""Each way's queries and items."""
BLOCK = 2**18
"""Numbers sorted at a time."""
READ = 1024
"""Queries read at a time."""


class GradedRanking(NamedTuple):
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


def average_precision(ranking: GradedRanking) -> Floats:
    """Of each query: the mean of sums / rank over its fully relevant items; NaN where it has none."""
    return _ratio(_each(ranking.sums / ranking.ranks, ranking.full), ranking.full)


def gain(ranking: GradedRanking) -> Floats:
    """nDCG of each query: linear gain, discount 1 / log2(rank + 1); NaN where nothing is relevant."""
    starts = np.cumsum(ranking.relevant) - ranking.relevant
    position = np.arange(len(ranking.gains)) - np.repeat(starts, ranking.relevant)
    discount = (1 / np.log2(np.arange(2, ranking.relevant.max(initial=0) + 2)))[position]
    gained, ideal = (_each(values * discount, ranking.relevant) for values in (ranking.gains, ranking.ideal))
    return np.minimum(_ratio(gained, ideal), 1.0)


def means(rankings: Mapping[str, Iterable[GradedRanking]]) -> dict[str, float]:
    """mAP and nDCG of each way, over the queries that have one, and the means of the two ways."""
    judged = {way: _judged(way, blocks) for way, blocks in rankings.items()}
    scores: dict[str, float] = {}
    for number, metric in enumerate(("map", "ndcg")):
        ways = {f"{metric}_{way}": float(np.nanmean(values[number])) for way, values in judged.items()}
        scores |= {**ways, metric: float(np.mean(list(ways.values())))}
    return scores


def rank(similarity: Numbers, relevancy: Numbers, full_relevancy: float, way: str) -> Iterator[GradedRanking]:
    """Rankings of the rows, a block at a time; of equal similarity the least relevant first.

    Relevancies and sums are in units in which `full_relevancy` is 1.
    """
    rows = max(1, BLOCK // similarity.shape[1])
    for start in range(0, len(similarity), rows):
        scores, worth = (_block(x[start : start + rows]) for x in (similarity, relevancy))
        _check(scores, worth, full_relevancy, start, way)
        ranked = np.take_along_axis(worth, _order(scores, worth), axis=1)
        relevant = np.count_nonzero(worth, axis=1)
        cut = np.arange(worth.shape[1]) < relevant[:, None]
        query, place = np.nonzero(ranked == full_relevancy)
        yield GradedRanking(
            full=np.bincount(query, minlength=len(worth)),
            ranks=place + 1,
            sums=np.cumsum(ranked, axis=1)[query, place],
            relevant=relevant,
            gains=ranked[cut],
            ideal=-np.sort(-worth, axis=1)[cut],
        )


def _order(scores: Floats, worth: Floats) -> Whole:
    """Of each row: by falling score, then by rising worth. Rows without equal scores need only one sort."""
    order = np.argsort(-scores, axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    if (tied := (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)).any():
        order[tied] = np.lexsort((worth[tied], -scores[tied]), axis=1)
    return order


def _judged(way: str, blocks: Iterable[GradedRanking]) -> tuple[Floats, Floats]:
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


def _block(rows: Numbers) -> Floats:
    """Of a transposed matrix, copied first as it lies: faster than both in one step."""
    return np.ascontiguousarray(rows if rows.flags.c_contiguous else rows.copy("K"), np.float64)


def _check(scores: Floats, worth: Floats, full_relevancy: float, start: int, way: str) -> None:
    if np.isfinite([scores.min(), scores.max()]).all() and worth.min() >= 0 and worth.max() <= full_relevancy:
        return
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


def pack(way: str, blocks: Iterable[GradedRanking], levels: Whole) -> dict[str, Whole]:
    """The arrays of one way, which are stored beside a record, in the smallest types that hold them.

    `levels` are the relevancies that occur, in parts of the last, which is 1. `<way>_relevant`: how many items of each
    level every query has. `<way>_gains`: the levels in the first places, as many for each query as it has relevant
    items, numbered from 1, 0 for an irrelevant item. `<way>_ranks` and `<way>_sums`: the rank of each fully relevant
    item and the relevancies up to it in the unit of `levels`.
    """
    packed = []
    for block in blocks:
        query = np.repeat(np.arange(len(block.relevant)), block.relevant)
        level = np.searchsorted(levels, block.ideal)
        each = np.bincount(query * len(levels) + level, minlength=len(levels) * len(block.relevant))
        gains = np.where(block.gains > 0, np.searchsorted(levels, block.gains) + 1, 0)
        numbers = (each, gains, block.ranks, block.sums.astype(np.int64))  # none is below 0
        packed.append([rows.astype(np.min_scalar_type(int(rows.max(initial=0)))) for rows in numbers])
    names = ("relevant", "gains", "ranks", "sums")
    return {f"{way}_{name}": np.concatenate(rows) for name, rows in zip(names, zip(*packed, strict=True), strict=True)}


def queries(arrays: Arrays, ways: Iterable[str]) -> dict[str, int]:
    """How many queries each way has."""
    return {way: len(arrays[f"{way}_relevant"]) // len(arrays["levels"]) for way in ways}


def unpack(way: str, arrays: Arrays) -> Iterator[GradedRanking]:
    """The rankings again, a block of queries at a time; refused if the arrays contradict each other."""
    levels, each, gains, ranks, sums = _checked(way, arrays)
    values, falling = np.concatenate([[0], levels]).astype(np.float64), levels[::-1].astype(np.float64)
    full, relevant = each[:, -1], each.sum(1)
    ends, full_ends = np.cumsum(relevant), np.cumsum(full)
    for start in range(0, len(each), READ):
        last = min(start + READ, len(each)) - 1
        own = slice(ends[start] - relevant[start], ends[last])
        tops = slice(full_ends[start] - full[start], full_ends[last])
        counts = each[start : last + 1]
        ideal = np.repeat(np.tile(falling, len(counts)), counts[:, ::-1].ravel())
        yield GradedRanking(
            full[start : last + 1],
            ranks[tops].astype(np.int64),
            sums[tops] / levels[-1],
            relevant[start : last + 1],
            values[gains[own]],
            ideal,
        )


def _checked(way: str, arrays: Arrays) -> tuple[Whole, Whole, Whole, Whole, Whole]:
    levels = arrays["levels"].astype(np.int64)
    relevant, gains, ranks, sums = (arrays[f"{way}_{name}"] for name in ("relevant", "gains", "ranks", "sums"))
    if not len(levels) or (np.diff(levels, prepend=0) <= 0).any():
        raise RecordError("levels do not rise from above 0")
    if not len(relevant) or len(relevant) % len(levels):
        raise RecordError(f"{way}_relevant has {len(relevant)} numbers, which is not {len(levels)} a query")
    if relevant.min() < 0 or relevant.max() > len(gains):  # asked before sums, which could wrap around
        raise RecordError(f"{way}_relevant counts below 0, or more than the {len(gains)} numbers of {way}_gains")
    each = relevant.astype(np.int64).reshape(-1, len(levels))
    for name, rows, wanted in (
        ("gains", gains, int(each.sum())),
        ("ranks", ranks, int(each[:, -1].sum())),
        ("sums", sums, int(each[:, -1].sum())),
    ):
        if len(rows) != wanted:
            raise RecordError(f"{way}_{name} has {len(rows)} numbers where {way}_relevant counts {wanted}")
    if len(gains) and not 0 <= gains.min() <= gains.max() <= len(levels):
        raise RecordError(f"{way}_gains name levels that cannot be")
    if (ranks < 1).any():
        raise RecordError(f"{way}_ranks are below 1")
    return levels, each, gains, ranks, sums
