"""Semantic textual similarity: correlation of cosines with gold scores."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from benchsuite.data.base import PairDataset, SentencePairs, SimilarityDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Scores, Task
from benchsuite.registry import register_task


@register_task(
    "sts",
    title="Semantic textual similarity",
    version=1,
    metrics=(),
    measures=(
        "STS12",
        "STS13",
        "STS14",
        "STS15",
        "STS16",
        "STSBenchmark",
        "SICK-R",
        "validation",
        "test",
        "average",
    ),
    headline="average",
    better="higher",
    unit="percent",
)
class SemanticSimilarity(Task):
    """Spearman correlation of cosine similarities with gold scores, for each similarity set; nothing is trained.

    All pairs of a set have one correlation, as in SimCSE. It lies in [-1, 1]. A collapsed model scores 0. Stored beside
    the record: twice the average ranks of the pairs by cosine and by gold score. Reads datasets of sentence pairs:
    senteval, or scenes-sts, whose sets are validation and test.
    """

    embeds: ClassVar = frozenset({"text"})

    sets: list[str] = ["STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICK-R"]
    """Which sets. `average` is over these."""
    features: bool = True
    """Compare the tower's features before the projection, as in SimCSE."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(self._sets, dataset)
        if isinstance(dataset, SimilarityDataset):
            yield from (partial(dataset.pairs, name) for name in self.sets)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        sets = self._sets(dataset)
        ranks: dict[str, NDArray[np.int32]] = {}
        for name in self.sets:
            subsets = sets.pairs(name).values()
            similar = np.concatenate([self._cosines(embed, pairs) for pairs in subsets])
            ranks |= ranked(name, similar, np.concatenate([pairs.gold for pairs in subsets]))
        return self.from_ranks(ranks)

    def _sets(self, dataset: PairDataset) -> SimilarityDataset:
        if not isinstance(dataset, SimilarityDataset):
            raise UsageError(f"sts: reads sentence pairs (datasets senteval, scenes-sts), not {dataset.card.name}.")
        if not self.sets:
            raise UsageError("sts: sets is empty; name at least one.")
        return dataset

    def _cosines(self, embed: Embedder, pairs: SentencePairs) -> NDArray[np.float64]:
        a, b = (embed.texts(texts, features=self.features).double() for texts in (pairs.a, pairs.b))
        cosines = (a * b).sum(1)
        if bad := torch.nonzero(~torch.isfinite(cosines)).flatten()[:1].tolist():
            raise UsageError(f'sts: the embedding of "{pairs.a[bad[0]]}" or its partner is not finite.')
        return np.asarray(cosines.cpu().numpy())


def doubled_ranks(values: ArrayLike, least: float = 0.0) -> NDArray[np.int32]:
    """Twice the average rank of each value, lowest first. All values tie if their range is below `least`."""
    from scipy.stats import rankdata

    numbers = np.asarray(values, np.float64)
    constant = np.ptp(numbers) < least
    return np.asarray(2 * rankdata(np.zeros_like(numbers) if constant else numbers)).astype(np.int32)


def ranked(name: str, similar: ArrayLike, gold: ArrayLike) -> dict[str, NDArray[np.int32]]:
    """What is stored for a set: the ranks of its pairs."""
    return {f"{name}_cosine": doubled_ranks(similar, CONSTANT), f"{name}_gold": doubled_ranks(gold)}


CONSTANT = 1e-6
"""Cosines of single-precision embeddings within this range differ by rounding alone."""
