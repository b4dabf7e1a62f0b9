"""Multi-instance retrieval between clips and sentences: soft mAP and nDCG, as EPIC-KITCHENS-100 defines them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UnknownError, UsageError
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.evaluation.graded import Whole, pack, rank
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

BLOCK = 512
EXACT = 2**53
"""Whole numbers below this are exact in double precision."""


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
        for way, scores, parts in (("v2t", similarity, worth), ("t2v", similarity.T, worth.T)):
            ranks |= pack(way, rank(scores, parts, whole, way), ranks["levels"])
        return self.from_ranks(ranks)

    def _actions(self, split: Split) -> "Actions":
        for name in ("verb", "nouns"):
            if name not in split.labels:
                raise UnknownError(
                    "set of labels", name, split.labels, f"multi-instance-retrieval, split {split.name}: "
                )
        verb, nouns = split.labels["verb"], split.labels["nouns"]
        sets = nouns.reshape(len(nouns), -1).tolist()
        return Actions.of(verb.tolist(), [sorted({n for n in classes if n >= 0}) for classes in sets])


@dataclass(frozen=True)
class Actions:
    """The verb class and the set of noun classes of each clip or sentence."""

    verb: NDArray[np.int64]  # [N]
    nouns: NDArray[np.bool_]  # [N, classes]

    @classmethod
    def of(cls, verb: Sequence[int], nouns: Sequence[Sequence[int]]) -> "Actions":
        """From verb classes and sets of noun classes; a set without a noun is refused."""
        hot = np.zeros((len(nouns), 1 + max((n for classes in nouns for n in classes), default=0)), dtype=bool)
        for i, classes in enumerate(nouns):
            if not classes or min(classes) < 0:
                raise UsageError(f"relevancy: item {i} has noun classes {list(classes)}; give at least one, from 0 on.")
            hot[i, list(classes)] = True
        return cls(np.asarray(verb, np.int64), hot)

    def take(self, index: Sequence[int]) -> "Actions":
        return Actions(self.verb[list(index)], self.nouns[list(index)])


def relevancy_parts(rows: Actions, columns: Actions) -> tuple[NDArray[np.integer[Any]], int]:
    """[rows, columns] of 0.5 (same verb class) + 0.5 (nouns in common / nouns in either), in exact whole numbers: in
    parts, and the number of parts that make 1.
    """
    largest = int(rows.nouns.sum(1).max() + columns.nouns.sum(1).max())
    half = math.lcm(*range(1, largest + 1))  # any number of nouns in either divides it
    if 2 * half * max(len(rows.verb), len(columns.verb)) >= EXACT:
        raise UsageError(f"relevancy: a pair may have {largest} noun classes in either, too many for exact sums.")
    parts = np.empty((len(rows.verb), len(columns.verb)), np.min_scalar_type(2 * half))
    width = min(rows.nouns.shape[1], columns.nouns.shape[1])
    others, sizes = columns.nouns[:, :width].astype(float), columns.nouns.sum(1)
    for start in range(0, len(rows.verb), BLOCK):
        part = slice(start, start + BLOCK)
        common = rows.nouns[part, :width].astype(float) @ others.T
        either = rows.nouns[part].sum(1)[:, None] + sizes[None] - common
        parts[part] = half * (rows.verb[part, None] == columns.verb[None]) + common * (half / either)
    return parts, 2 * half
