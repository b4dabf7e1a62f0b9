"""Sentence similarity: how well cosines follow a gold judgement."""

from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.stats import spearmanr

from benchsuite.data.base import PairDataset
from benchsuite.data.sentences import SentencePairs, SimilarityDataset
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
)
class SemanticSimilarity(Task):
    """Spearman correlation of cosine similarities with gold scores, for each similarity set; nothing is trained.

    A correlation lies in [-1, 1]. A model that maps all to one point has none, and is given 0. Reads datasets of
    sentence pairs: senteval, or scenes-sts, whose sets are validation and test.
    """

    sets: list[str] = ["STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICK-R"]
    """Which sets; the average is over these."""
    aggregation: Literal["all", "mean", "wmean"] = "all"
    """Over a set's subsets: one correlation of all pairs (SimCSE), the mean, or the mean by size (SentEval)."""
    features: bool = True
    """Whether the tower's own features are compared, before the projection; as SimCSE does it."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        if not isinstance(dataset, SimilarityDataset):
            raise UsageError(f"sts: reads sentence pairs (datasets senteval, scenes-sts), not {dataset.card.name}.")
        if not self.sets:
            raise UsageError("sts: sets is empty; name at least one.")
        measures, counts = {}, {}
        for name in self.sets:
            subsets = dataset.pairs(name).values()
            similar = [self._cosines(embed, pairs) for pairs in subsets]
            measures[name] = aggregated(similar, [pairs.gold for pairs in subsets], self.aggregation)
            counts[name] = sum(len(rows) for rows in similar)
        return Scores({}, counts, measures={**measures, "average": float(np.mean(list(measures.values())))})

    def _cosines(self, embed: Embedder, pairs: SentencePairs) -> NDArray[np.float64]:
        a, b = (embed.texts(texts, features=self.features).double() for texts in (pairs.a, pairs.b))
        found = (a * b).sum(1)
        if bad := torch.nonzero(~torch.isfinite(found)).flatten()[:1].tolist():
            raise UsageError(f'sts: the embedding of "{pairs.a[bad[0]]}" or its partner is not finite.')
        return np.asarray(found.cpu().numpy())


def aggregated(similar: list[NDArray[np.float64]], gold: list[NDArray[np.float64]], how: str) -> float:
    """One correlation for a set of subsets."""
    if how == "all":
        return spearman(np.concatenate(similar), np.concatenate(gold))
    sizes = [len(rows) for rows in gold] if how == "wmean" else None
    return float(np.average([spearman(a, b) for a, b in zip(similar, gold, strict=True)], weights=sizes))


def spearman(similar: ArrayLike, gold: ArrayLike) -> float:
    """Spearman's correlation; 0 where one side is constant."""
    a, b = np.asarray(similar, np.float64), np.asarray(gold, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise UsageError(f"sts: similarities and gold scores must be as many; given {list(a.shape)}, {list(b.shape)}.")
    if np.ptp(a) < CONSTANT or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)


CONSTANT = 1e-6
"""Cosines of single-precision embeddings that differ by less are rounding, not similarity."""
