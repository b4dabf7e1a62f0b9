"""What follows from ranks alone: one arithmetic for tasks, `rescore` and `verify`. Nothing here needs torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.evaluation.graded import SIDES, means
from benchsuite.evaluation.graded_ranks import queries, unpack
from benchsuite.evaluation.scores import Ranks, Scores

CUTS = (1, 5, 10)
"""Of retrieval."""
TOPS = (1, 3, 5)
"""Of zero-shot classification."""
FIRST = (1, 5)
"""Of classification by features."""
PLAIN = (1, 10)
"""Neighbours asked by plain kNN."""


def recall(ranks: NDArray[np.integer[Any]], k: int) -> float:
    """Share of queries whose answer is among the first k."""
    return float((ranks <= k).mean())


def recalls(ranks: Ranks) -> dict[str, float]:
    """R@1/5/10 for each direction, and the mean of the six."""
    metrics = {f"{direction}_r{k}": recall(found, k) for direction, found in ranks.items() for k in CUTS}
    return {**metrics, "r_mean": float(np.mean(list(metrics.values())))}


def medians(ranks: Ranks) -> dict[str, float]:
    """The median rank for each direction; of two middle ones, their mean."""
    return {f"{direction}_median_rank": float(np.median(found)) for direction, found in ranks.items()}


def retrieval(ranks: Ranks) -> Scores:
    """Recalls and median ranks, by direction."""
    counts = {direction: len(found) for direction, found in ranks.items()}
    return Scores(recalls(ranks), counts, ranks, medians(ranks))


def zero_shot(ranks: Ranks) -> Scores:
    """Top-1/3/5, from each picture's rank of its class."""
    return _tops(ranks, TOPS)


def zero_shot_ten(ranks: Ranks) -> Scores:
    """Top-1/3/5/10."""
    return _tops(ranks, (*TOPS, 10))


def classification(ranks: Ranks) -> Scores:
    """Top-1/5, from each sample's rank of its class."""
    metrics = {f"top{k}": recall(ranks["class"], k) for k in FIRST}
    return Scores(metrics, {"samples": len(ranks["class"])}, ranks)


def plain_neighbours(ranks: Ranks) -> Scores:
    """Accuracy for each number of neighbours."""
    metrics = {f"k{k}_top1": recall(ranks[f"k{k}"], 1) for k in PLAIN}
    return Scores(metrics, {"samples": len(ranks["k1"])}, ranks)


def mmvp(ranks: Ranks) -> Scores:
    """Shares of pairs both of whose statements have their picture first, pattern by pattern, pairs in order."""
    metrics = {name: float(both(found).mean()) for name, found in ranks.items()}
    pairs = sum(len(found) for found in ranks.values()) // 2
    average = float(np.mean(list(metrics.values())))
    return Scores({**metrics, "average": average}, {"pairs": pairs}, ranks)


def both(ranks: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Whether both statements of each pair have their picture first."""
    return np.asarray((ranks.reshape(-1, 2) == 1).all(1))


def sentence_transfer(ranks: Ranks) -> Scores:
    """Accuracies, from whether each sentence was classified rightly (1) or not (2)."""
    metrics = {name: float((found == 1).mean()) for name, found in ranks.items()}
    average = float(np.mean(list(metrics.values())))
    return Scores({**metrics, "average": average}, {name: len(found) for name, found in ranks.items()}, ranks)


def multi_instance(ranks: Ranks) -> Scores:
    """Soft mAP and nDCG, from the rankings that `graded_ranks` packs."""
    return Scores(means({way: unpack(way, ranks) for way in SIDES}), queries(ranks, SIDES), ranks)


def _tops(ranks: Ranks, cuts: tuple[int, ...]) -> Scores:
    found = ranks["class"]
    return Scores({f"top{k}": recall(found, k) for k in cuts}, {"pictures": len(found)}, ranks)


@dataclass(frozen=True)
class Rule:
    """How a task's numbers follow from its ranks."""

    scores: Callable[[Ranks], Scores]
    items: str = ""
    """The count that is the size of the judged split, if one is."""
    plain: bool = True
    """Whether all arrays are ranks, from 1 on."""
    not_recomputable: tuple[str, ...] = ()
    """Measures that do not follow."""


RULES: Mapping[str, Rule] = {
    "knn": Rule(classification, "samples"),
    "knn-plain": Rule(plain_neighbours, "samples"),
    "linear-probe": Rule(classification, "samples", not_recomputable=("c", "iterations", "converged")),
    "mmvp": Rule(mmvp),
    "multi-instance-retrieval": Rule(multi_instance, "v2t", plain=False),
    "retrieval": Rule(retrieval, "i2t"),
    "sentence-transfer": Rule(sentence_transfer),
    "video-retrieval": Rule(retrieval, "v2t"),
    "zero-shot": Rule(zero_shot, "pictures"),
    "zero-shot-10": Rule(zero_shot_ten, "pictures"),
}
"""By task. A task that is not here (from a plugin, or whose options decide what follows) is left to `rescore`."""
