"""How to compute each task's numbers from its ranks, for the task and for `verify`. Nothing here imports torch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import RecordError
from benchsuite.evaluation.graded import SIDES, means, queries, unpack
from benchsuite.records.ranks import NEAREST, are_pictures
from benchsuite.records.recompute import RankRule, Ranks, Scores

CUTS = (1, 5, 10)
"""The k of R@k in retrieval."""
TOPS = (1, 3, 5, 10)
"""The k of top-k in zero-shot classification."""
FIRST = (1, 5)
"""The k of top-k in kNN and linear probe."""
PLAIN = (1, 10)
"""Numbers of neighbours in plain kNN."""
WAYS = ("i2t", "t2i")
GROUPS = ("head", "medium", "tail")
"""Of classes by their size in the training data."""


def up_to(k: int, ranks: Ranks) -> Ranks:
    """Ranks to store: those beyond k, which no number needs, as k + 1."""
    return {name: np.minimum(each, k + 1) for name, each in ranks.items()}


def rising(ranks: Ranks) -> Ranks:
    """Ranks to store where no reader asks which query had which: in order, they take almost no room."""
    return {name: np.sort(each) for name, each in ranks.items()}


def counted(task: str, ranks: Ranks) -> Ranks:
    """What to store of data that nobody can look at: how often a task has each rank, if its numbers need no more."""
    rule = RULES.get(task)
    return rising(of_ways(ranks)) if rule and rule.any_order else ranks


def recall(ranks: NDArray[np.integer[Any]], k: int) -> float:
    """Share of queries whose answer is among the first k."""
    return float((ranks <= k).mean())


def of_ways(ranks: Ranks) -> Ranks:
    """Retrieval's ranks without what was nearest."""
    return {name: each for name, each in ranks.items() if not name.endswith(NEAREST)}


def recalls(ranks: Ranks) -> dict[str, float]:
    """R@1/5/10 for each direction, and the mean of the six."""
    metrics = {f"{direction}_r{k}": recall(each, k) for direction, each in of_ways(ranks).items() for k in CUTS}
    return {**metrics, "r_mean": float(np.mean(list(metrics.values())))}


def medians(ranks: Ranks) -> dict[str, float]:
    """The median rank for each direction."""
    return {f"{direction}_median_rank": float(np.median(each)) for direction, each in of_ways(ranks).items()}


def retrieval(ranks: Ranks) -> Scores:
    """Recalls and median ranks, by direction."""
    found = of_ways(ranks)
    counts = {way: len(each) for way, each in found.items()}
    nearest = {name: each for name, each in ranks.items() if name not in found}
    for name, pictures in nearest.items():
        if not are_pictures(pictures, counts.get(name.removesuffix(NEAREST), 0), counts["i2t"]):
            raise RecordError(f"{name} are not pictures, one for each query")
    stored = {**up_to(last_needed(*found.values()), found), **nearest}
    return Scores(recalls(found), counts, stored, medians(found))


def last_needed(*ranks: NDArray[np.integer[Any]]) -> int:
    """The largest rank that recalls and medians need. The median of an even number of queries has two ranks in it."""
    return max(*CUTS, *(int(np.partition(each, len(each) // 2)[len(each) // 2]) for each in ranks))


def tail(ranks: Ranks) -> Scores:
    """R@1/10 by direction, for each group of classes. `retrieval` has the same ranks query by query."""
    metrics = {f"{way}_r{k}_{g}": recall(ranks[f"{way}_{g}"], k) for g in GROUPS for way in WAYS for k in (1, 10)}
    counts = {way: sum(len(ranks[f"{way}_{g}"]) for g in GROUPS) for way in WAYS}
    return Scores(metrics, {**counts, **{name: len(each) for name, each in ranks.items()}}, rising(up_to(10, ranks)))


def zero_shot(ranks: Ranks) -> Scores:
    """Top-1/3/5/10, from each picture's rank of its class; only of k below the number of classes."""
    tops = [k for k in TOPS if k == 1 or k < int(ranks["classes"][0])]
    metrics = {f"top{k}": recall(ranks["class"], k) for k in tops}
    stored = {"classes": ranks["classes"], **up_to(max(TOPS), {"class": ranks["class"]})}
    return Scores(metrics, {"pictures": len(ranks["class"])}, stored)


def classification(ranks: Ranks) -> Scores:
    """Top-1/5, from each sample's rank of its class."""
    metrics = {f"top{k}": recall(ranks["class"], k) for k in FIRST}
    return Scores(metrics, {"samples": len(ranks["class"])}, up_to(max(FIRST), ranks))


def plain_neighbours(ranks: Ranks) -> Scores:
    """Accuracy for each number of neighbours."""
    metrics = {f"k{k}_top1": recall(ranks[f"k{k}"], 1) for k in PLAIN}
    return Scores(metrics, {"samples": len(ranks["k1"])}, up_to(1, ranks))


def mmvp(ranks: Ranks) -> Scores:
    """For each pattern, the share of pairs both of whose statements rank their own image first."""
    metrics = {name: float(both(each).mean()) for name, each in ranks.items()}
    pairs = sum(len(each) for each in ranks.values()) // 2
    average = float(np.mean(list(metrics.values())))
    return Scores({**metrics, "average": average}, {"pairs": pairs}, up_to(1, ranks))


def both(ranks: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Whether both statements of each pair rank their own image first. Pairs are consecutive."""
    return np.asarray((ranks.reshape(-1, 2) == 1).all(1))


def matching(ranks: Ranks, images: int) -> Scores:
    """Share of instances all of whose images, all of whose captions, or both, rank their own first."""
    first = {way: (each.reshape(-1, images) == 1).all(1) for way, each in ranks.items()}
    if images > 1:
        first["group"] = first["text"] & first["image"]
    metrics = {way: float(each.mean()) for way, each in first.items()}
    return Scores(metrics, {"instances": len(first["text"])}, up_to(1, ranks))


def multilabel(ranks: Ranks) -> Scores:
    """Mean average precision, from the ranks of each class's images: relevant ones so far by rank, at each of them."""
    found, relevant, pictures = ranks["class"], ranks["relevant"], int(ranks["pictures"][0])
    if int(relevant.sum()) != len(found):
        raise RecordError(f"class has {len(found)} ranks, where relevant has {int(relevant.sum())}")
    classes = np.split(found, np.cumsum(relevant)[:-1])
    if found.max() > pictures or any((np.diff(own) < 1).any() for own in classes):
        raise RecordError(f"ranks of a class do not rise, or are beyond the {pictures} pictures")
    precision = [float((np.arange(1, len(own) + 1) / own).mean()) for own in classes]
    return Scores({"map": float(np.mean(precision))}, {"pictures": pictures}, ranks)


def sentence_transfer(ranks: Ranks) -> Scores:
    """Accuracies, from 1 for a correctly classified sentence and 2 for a wrong one."""
    metrics = {name: float((each == 1).mean()) for name, each in ranks.items()}
    average = float(np.mean(list(metrics.values())))
    return Scores({**metrics, "average": average}, {name: len(each) for name, each in ranks.items()}, ranks)


def multi_instance(ranks: Ranks) -> Scores:
    """Soft mAP and nDCG, from the rankings that `graded` packs."""
    return Scores(means({way: unpack(way, ranks) for way in SIDES}), queries(ranks, SIDES), ranks)


def sts(ranks: Ranks, sets: Sequence[str]) -> Scores:
    """Spearman's correlation for each set, from each pair's ranks by cosine and by gold score, and the mean."""
    measures = {name: _correlation(name, ranks) for name in sets}
    counts = {name: len(ranks[f"{name}_gold"]) for name in sets}
    return Scores({}, counts, ranks, {**measures, "average": float(np.mean(list(measures.values())))})


def _correlation(name: str, ranks: Ranks) -> float:
    """Pearson's of the pairs' two ranks; 0 where either is constant."""
    cosine, gold = (ranks[f"{name}_{kind}"] for kind in ("cosine", "gold"))
    if not 0 < len(cosine) == len(gold):
        raise RecordError(f"{name}_cosine and {name}_gold have {len(cosine)} and {len(gold)} ranks of the same pairs")
    a, b = (each - each.mean() for each in (cosine, gold))
    scale = float(a @ a) * float(b @ b)
    return float(a @ b) / scale**0.5 if scale else 0.0


RULES: dict[str, RankRule] = {
    "gallery-retrieval": RankRule(retrieval, split_count="i2t", any_order=True),
    "geometry": RankRule(None, why="sums of real numbers over embeddings, which are not stored"),
    "knn": RankRule(classification, split_count="samples", any_order=True),
    "knn-plain": RankRule(plain_neighbours, split_count="samples", any_order=True),
    "linear-probe": RankRule(
        classification,
        split_count="samples",
        any_order=True,
        not_recomputable=("iterations", "converged"),
        why="they describe the fit, not its predictions",
    ),
    "matching": RankRule(matching, options=("images",)),
    "mmvp": RankRule(mmvp),
    "multi-instance-retrieval": RankRule(multi_instance, split_count="v2t", only_ranks=False),
    "multilabel": RankRule(multilabel, split_count="pictures"),
    "retrieval": RankRule(retrieval, split_count="i2t", any_order=True),
    "sentence-transfer": RankRule(sentence_transfer),
    "sts": RankRule(sts, options=("sets",), only_ranks=False),
    "tail": RankRule(tail, split_count="i2t", any_order=True),
    "zero-shot": RankRule(zero_shot, split_count="pictures", any_order=True),
}
"""By task. A plugin's task adds its own: `RULES["mine"] = RankRule(...)`."""
