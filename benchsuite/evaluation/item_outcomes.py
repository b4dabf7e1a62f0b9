"""What each test item adds to a metric that is a mean over items: the mean of its array is the metric.

Items of retrieval are pictures. A picture stands for its own query and for those of its captions, which are not
independent of each other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.evaluation.graded import SIDES, average_precision, gain
from benchsuite.evaluation.graded_ranks import unpack
from benchsuite.records.recompute import Outcomes, Ranks

PICTURES = ("i2t", "v2t")
"""Directions whose queries are pictures or clips."""
SEVERAL = "it is a mean over tests that have items of their own"
TWO_WAYS = "it is a mean over clips and over sentences, and ranks do not tell which belong together"


def first(ranks: NDArray[np.integer[Any]], k: int) -> NDArray[np.float64]:
    """Whether each answer is among the first k."""
    return (ranks <= k).astype(np.float64)


def retrieval(ranks: Ranks, cuts: tuple[int, ...]) -> Outcomes:
    """By picture, for each direction and k, and for their mean.

    Captions are stored picture by picture. Where their number is a multiple of that of pictures, each picture is taken
    to have equally many; elsewhere nothing tells which captions are of one picture.
    """
    (pictures,), (captions,) = (
        [way for way in ranks if (way in PICTURES) == is_picture] for is_picture in (True, False)
    )
    count, total = len(ranks[pictures]), len(ranks[captions])
    outcomes = {f"{pictures}_r{k}": first(ranks[pictures], k) for k in cuts}
    if total % count:
        why = f"which of the {total} captions are of which of the {count} pictures is not stored"
        return {**outcomes, **dict.fromkeys([*(f"{captions}_r{k}" for k in cuts), "r_mean"], why)}
    outcomes |= {f"{captions}_r{k}": first(ranks[captions], k).reshape(count, -1).mean(axis=1) for k in cuts}
    return {**outcomes, "r_mean": np.mean(list(outcomes.values()), axis=0)}


def top(name: str, ks: tuple[int, ...]) -> Callable[[Ranks], Outcomes]:
    """By sample: whether its class is among the first k."""
    return lambda ranks: {f"top{k}": first(ranks[name], k) for k in ks}


def plain_neighbours(ranks: Ranks, numbers: tuple[int, ...]) -> Outcomes:
    """By sample, for each number of neighbours."""
    return {f"k{k}_top1": first(ranks[f"k{k}"], 1) for k in numbers}


def mmvp(ranks: Ranks) -> Outcomes:
    """By pair of pictures, for each pattern."""
    pairs = {name: (each.reshape(-1, 2) == 1).all(axis=1).astype(np.float64) for name, each in ranks.items()}
    return {**pairs, "average": SEVERAL}


def sentence_transfer(ranks: Ranks) -> Outcomes:
    """By sentence, for each test."""
    return {**{name: first(each, 1) for name, each in ranks.items()}, "average": SEVERAL}


def multi_instance(ranks: Ranks) -> Outcomes:
    """By query that has one, for each way: average precision and nDCG."""
    outcomes: dict[str, NDArray[np.float64] | str] = {"map": TWO_WAYS, "ndcg": TWO_WAYS}
    for way in SIDES:
        blocks = [(average_precision(block), gain(block)) for block in unpack(way, ranks)]
        for metric, parts in zip(("map", "ndcg"), zip(*blocks, strict=True), strict=True):
            values = np.concatenate(parts)
            outcomes[f"{metric}_{way}"] = values[~np.isnan(values)]
    return outcomes
