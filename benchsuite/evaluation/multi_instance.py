"""Multi-instance retrieval between clips and sentences: soft mAP and nDCG, as EPIC-KITCHENS-100 defines them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UsageError, unknown
from benchsuite.evaluation.base import Embedder, Scores, Task
from benchsuite.evaluation.relevancy import Actions, Floats, Ints, relevancy, relevancy_between
from benchsuite.registry import register_task

__all__ = ["MultiInstanceRetrieval", "relevancy", "score"]

BLOCK = 2**20
"""Numbers sorted at a time."""
Judged = tuple[Floats, Floats, NDArray[np.int32]]


@register_task(
    "multi-instance-retrieval",
    title="Multi-instance retrieval",
    version=1,
    metrics=("map_v2t", "map_t2v", "map", "ndcg_v2t", "ndcg_t2v", "ndcg"),
)
class MultiInstanceRetrieval(Task):
    """Soft mAP and nDCG between the clips of a split and its different narrations, in both directions.

    Relevancy is 0.5 (same verb class) + 0.5 IoU (noun classes). A clip's narration is its first caption; narrations
    that several clips share are searched once, with the classes of the first of these clips. Ties count against the
    model. The ranks kept are those of each query's first answer of relevancy 1.
    """

    split: str = "test"
    """Which clips and narrations are searched."""
    verbs: str = "verb"
    """Name of the labels that hold a verb class for each clip, [N]."""
    nouns: str = "nouns"
    """Name of the labels that hold the set of noun classes of each clip, [N, K]; -1 fills up smaller sets."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        split = dataset.split(self.split)
        actions = self._actions(split)
        first: dict[str, int] = {}
        for i, texts in enumerate(split.captions):
            first.setdefault(texts[0], i)
        relevant = relevancy_between(actions, actions.take(list(first.values())))
        similarity = (embed.images(split).double() @ embed.texts(list(first)).double().T).numpy()
        judged = _both_ways(similarity, relevant)
        counts = {way: len(found[2]) for way, found in judged.items()}
        return Scores(_means(judged), counts, {way: found[2] for way, found in judged.items()})

    def _actions(self, split: Split) -> Actions:
        for name in (self.verbs, self.nouns):
            if name not in split.labels:
                raise unknown("set of labels", name, split.labels, f"multi-instance-retrieval, split {split.name}: ")
        verb, nouns = split.labels[self.verbs], split.labels[self.nouns]
        if verb.ndim != 1:
            raise UsageError(f'multi-instance-retrieval: labels "{self.verbs}" must be [N]; they are {verb.shape}.')
        sets = nouns.reshape(len(nouns), -1).tolist()
        return Actions.of(verb.tolist(), [sorted({n for n in some if n >= 0}) for some in sets])


def score(similarity: ArrayLike, relevancy: ArrayLike) -> dict[str, float]:
    """Metrics of similarities [clips, sentences] against relevancies of the same shape, as fractions.

    nDCG: linear gain, discount 1 / log2(rank + 1), cut at the number of items with relevancy above 0. mAP is not
    binary: the precision at k is the sum of the relevancies up to k over k, read where the relevancy is exactly 1.
    Items of equal similarity are ranked by relevancy, least first. A query without an item of relevancy 1 has no
    precision and is left out of mAP; one without any relevant item is left out of nDCG too.
    """
    return _means(_both_ways(_matrix("similarity", similarity), _matrix("relevancy", relevancy)))


def _both_ways(similarity: NDArray[np.generic], relevant: NDArray[np.generic]) -> dict[str, Judged]:
    if similarity.shape != relevant.shape:
        raise UsageError(
            f"multi-instance retrieval: similarity is {similarity.shape} and relevancy {relevant.shape}; "
            "both must be [clips, sentences]."
        )
    return {
        "v2t": _judge(similarity, relevant, "clip", "sentence"),
        "t2v": _judge(similarity.T, relevant.T, "sentence", "clip"),
    }


def _means(judged: dict[str, Judged]) -> dict[str, float]:
    means: dict[str, float] = {}
    for number, metric in enumerate(("map", "ndcg")):
        ways = {f"{metric}_{way}": float(np.nanmean(found[number])) for way, found in judged.items()}
        means |= {**ways, metric: float(np.mean(list(ways.values())))}
    return means


def _judge(similarity: NDArray[np.generic], relevant: NDArray[np.generic], query: str, item: str) -> Judged:
    """For each row: average precision and nDCG, NaN where undefined, and the rank of the first fully relevant item."""
    parts = list(_blocks(similarity, relevant, query, item))
    precision, gain, rank = (np.concatenate(some) for some in zip(*parts, strict=True))
    if np.isnan(precision).all():
        raise UsageError(f"multi-instance retrieval: no {query} has a {item} of relevancy 1, so there is no precision.")
    return precision, gain, rank


def _blocks(similarity: NDArray[np.generic], relevant: NDArray[np.generic], query: str, item: str) -> Iterator[Judged]:
    place = np.arange(1, similarity.shape[1] + 1)
    discount = 1 / np.log2(place + 1)
    rows = max(1, BLOCK // similarity.shape[1])
    for start in range(0, len(similarity), rows):
        scores, worth = (np.ascontiguousarray(x[start : start + rows], np.float64) for x in (similarity, relevant))
        _check(scores, worth, start, query, item)
        ranked = _ranked(scores, worth)
        full = ranked == 1
        precision = _ratio((np.cumsum(ranked, axis=1) / place * full).sum(1), full.sum(1))
        counted = place <= (worth > 0).sum(1)[:, None]
        ideal = -np.sort(-worth, axis=1)
        gain = _ratio((ranked * discount * counted).sum(1), (ideal * discount * counted).sum(1))
        rank = np.where(full.any(1), full.argmax(1) + 1, len(place) + 1)
        yield precision, np.minimum(gain, 1.0), rank.astype(np.int32)


def _ratio(total: Floats, count: Floats | Ints) -> Floats:
    found = np.full(len(total), np.nan)
    np.divide(total, count, out=found, where=count > 0)
    return found


def _ranked(scores: Floats, worth: Floats) -> Floats:
    """Relevancies by falling score; of equal scores the least relevant first."""
    order = np.argsort(-scores, axis=1)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    tied = (sorted_scores[:, 1:] == sorted_scores[:, :-1]).any(1)
    if tied.any():
        order[tied] = np.lexsort((worth[tied], -scores[tied]), axis=1)
    return np.take_along_axis(worth, order, axis=1)


def _matrix(name: str, values: ArrayLike) -> NDArray[np.generic]:
    found = np.asarray(values)
    if found.ndim != 2 or not found.size or found.dtype.kind not in "fiub":
        what = f"{list(found.shape)} of {found.dtype}"
        raise UsageError(f"multi-instance retrieval: {name} must be numbers [clips, sentences]; given {what}.")
    return found


def _check(scores: Floats, worth: Floats, start: int, query: str, item: str) -> None:
    for name, part, bad in (
        ("similarity", scores, ~np.isfinite(scores)),
        ("relevancy", worth, ~((worth >= 0) & (worth <= 1))),
    ):
        if bad.any():
            i, j = (int(n) for n in np.argwhere(bad)[0])
            right = "a finite number" if name == "similarity" else "a number from 0 to 1"
            raise UsageError(
                f"multi-instance retrieval: {name} of {query} {start + i} and {item} {j} is {part[i, j]}, not {right}."
            )
