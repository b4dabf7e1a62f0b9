"""Multi-instance retrieval between clips and sentences: soft mAP and nDCG, as EPIC-KITCHENS-100 defines them."""

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UnknownError, UsageError
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.evaluation.graded import Numbers, Whole, means, pack, rank
from benchsuite.evaluation.relevancy import Actions, relevancy, relevancy_parts
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

__all__ = ["MultiInstanceRetrieval", "relevancy", "score"]


@register_task(
    "multi-instance-retrieval",
    title="Multi-instance retrieval",
    version=1,
    metrics=("map_v2t", "map_t2v", "map", "ndcg_v2t", "ndcg_t2v", "ndcg"),
    headline="map",
)
class MultiInstanceRetrieval(Task):
    """Soft mAP and nDCG between the clips of a split and its different narrations, in both directions.

    Relevancy is 0.5 (same verb class) + 0.5 IoU (noun classes), of the labels `verb`, [N], and `nouns`, [N, K] padded
    with -1. A clip's narration is its first caption; narrations that several clips share count once, with the classes
    of the first of these clips. Ties count against the model. Stored beside the record: the ranks of items of relevancy
    1, and the relevancy levels in the ranks that nDCG reads.
    """

    embeds: ClassVar = frozenset({"image", "text"})

    split: str = "test"
    """Which clips and narrations are searched."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield lambda: self._actions(dataset.split(self.split))
        yield lambda: dataset.split(self.split).captions_for(self.card.name)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        split = dataset.split(self.split)
        actions = self._actions(split)
        narrations = [texts[0] for texts in split.captions_for(self.card.name)]
        first: dict[str | bytes, int] = {}  # a vector is told from another by its bytes
        for i, text in enumerate(narrations):
            first.setdefault(text if isinstance(text, str) else text.tobytes(), i)
        worth, whole = relevancy_parts(actions, actions.take(list(first.values())))
        similarity = (
            embed.images(split).double() @ embed.texts([narrations[i] for i in first.values()]).double().T
        ).numpy()
        levels = np.unique(worth)
        ranks: dict[str, Whole] = {"levels": levels[levels > 0].astype(np.int64)}
        for way, (scores, parts) in _both_ways(similarity, worth).items():
            ranks |= pack(way, rank(scores, parts, whole, way), ranks["levels"])
        return self.from_ranks(ranks)

    def _actions(self, split: Split) -> Actions:
        for name in ("verb", "nouns"):
            if name not in split.labels:
                raise UnknownError(
                    "set of labels", name, split.labels, f"multi-instance-retrieval, split {split.name}: "
                )
        verb, nouns = split.labels["verb"], split.labels["nouns"]
        sets = nouns.reshape(len(nouns), -1).tolist()
        return Actions.of(verb.tolist(), [sorted({n for n in classes if n >= 0}) for classes in sets])


def score(similarity: ArrayLike, relevancy: ArrayLike) -> dict[str, float]:
    """Metrics of similarities [clips, sentences] against relevancies of the same shape, as fractions.

    nDCG: linear gain, discount 1 / log2(rank + 1), cut at the number of items with relevancy above 0. mAP is not
    binary: the precision at k is the sum of the relevancies up to k over k, read where the relevancy is exactly 1.
    Items of equal similarity are ranked by relevancy, least first. A query without an item of relevancy 1 has no
    precision and is skipped in mAP; a query without any relevant item is skipped in nDCG too.
    """
    ways = _both_ways(_matrix("similarity", similarity), _matrix("relevancy", relevancy))
    return means({way: rank(*both, 1, way) for way, both in ways.items()})


def _both_ways(similarity: Numbers, relevant: Numbers) -> dict[str, tuple[Numbers, Numbers]]:
    if similarity.shape != relevant.shape:
        raise UsageError(
            f"multi-instance retrieval: similarity is {similarity.shape} and relevancy {relevant.shape}; "
            "both must be [clips, sentences]."
        )
    return {"v2t": (similarity, relevant), "t2v": (similarity.T, relevant.T)}


def _matrix(name: str, values: ArrayLike) -> Numbers:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "fiub":
        given = f"{list(matrix.shape)} of {matrix.dtype}"
        raise UsageError(f"multi-instance retrieval: {name} must be numbers [clips, sentences]; given {given}.")
    return matrix
