"""Frozen sentence embeddings: correlation of cosines with gold similarity, and SentEval's classification."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from benchsuite.data.base import PairDataset, SentencePairs, SimilarityDataset
from benchsuite.data.real.senteval import Sentences, SentEval
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.fields import Count
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WITHIN = [2.0**t for t in range(-2, 4)]
"""SentEval's values of C for nested folds and for a dev split."""
CROSS = [2.0**t for t in range(-1, 6)]
"""SentEval's values of C for folds of the training split."""
SHUFFLE = 1111
"""SentEval's seed of the folds."""
STEPS = 1000
CONSTANT = 1e-6
"""Cosines of single-precision embeddings within this range differ by rounding alone."""


@register_task(
    "sts",
    title="Semantic textual similarity",
    version=1,
    metrics=(),
    measures=("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICK-R", "validation", "test", "average"),
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

    def _cosines(self, embed: Embedder, pairs: SentencePairs) -> Floats:
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


@register_task(
    "sentence-transfer",
    title="Sentence classification",
    version=1,
    metrics=("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC", "average"),
    headline="average",
)
class SentenceTransfer(Task):
    """Accuracy of logistic regression on frozen sentence features, for each transfer task of SentEval.

    The regularisation rule is SentEval's for scikit-learn: nested folds for MR, CR, SUBJ and MPQA, folds of the
    training split for TREC and MRPC (on |a - b| and a * b), the dev split for SST2; of equally good strengths the
    strongest. Features are L2-normalised, then scaled to a mean square of 1 per coordinate. SentEval does not scale;
    without it, its strengths would regularise unit vectors far more than a tower's raw features.
    """

    embeds: ClassVar = frozenset({"text"})

    sets: list[str] = ["MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"]
    """Which tasks. `average` is over these."""
    folds: Count = 10
    """Number of folds, inner and outer."""
    features: bool = True
    """Use the tower's features before the projection."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(self._sets, dataset)
        if isinstance(dataset, SentEval):
            yield from (partial(dataset.classified, name) for name in self.sets)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        sets = self._sets(dataset)
        ranks: dict[str, NDArray[np.int32]] = {}
        for name in self.sets:
            parts = sets.classified(name)
            points = {split: self._points(embed, part, f"{name} {split}") for split, part in parts.items()}
            right = correct(points, {split: part.labels for split, part in parts.items()}, self.folds, name)
            ranks[name] = np.where(right, 1, 2).astype(np.int32)
        return self.from_ranks(ranks)

    def _sets(self, dataset: PairDataset) -> SentEval:
        if not isinstance(dataset, SentEval):
            raise UsageError(f"sentence-transfer: reads dataset senteval, not {dataset.card.name}.")
        if not self.sets:
            raise UsageError("sentence-transfer: sets is empty; name at least one.")
        return dataset

    def _points(self, embed: Embedder, part: Sentences, where: str) -> Floats:
        rows = [
            embed.texts(texts, features=self.features).double().cpu().numpy()
            for texts in (part.texts, part.other)
            if texts
        ]
        scaled = [row * np.sqrt(row.shape[1]) for row in rows]
        points = scaled[0] if len(scaled) == 1 else np.hstack([np.abs(scaled[0] - scaled[1]), scaled[0] * scaled[1]])
        if not np.isfinite(points).all():
            raise UsageError(f"sentence-transfer, {where}: a sentence's features are not finite.")
        return points


def correct(points: dict[str, Floats], labels: dict[str, Ints], folds: int, name: str) -> NDArray[np.bool_]:
    """Whether each evaluated sentence was classified correctly, in stored order."""
    for split, classes in labels.items():
        least = folds if split in ("all", "train") and "dev" not in labels else 1
        _require_classes(classes, least, f"{name} {split}")
    if "all" in points:
        x, y = points["all"], labels["all"]
        right = np.zeros(len(y), bool)
        for train, test in _folds(x, y, folds):
            strength = _by_folds(x[train], y[train], WITHIN, folds)
            right[test] = _right(x[train], y[train], x[test], y[test], strength)
        return right
    x, y = points["train"], labels["train"]
    if "dev" in points:
        strength = _best(WITHIN, [[_right(x, y, points["dev"], labels["dev"], c).mean()] for c in WITHIN])
    else:
        strength = _by_folds(x, y, CROSS, folds)
    return _right(x, y, points["test"], labels["test"], strength)


def _by_folds(x: Floats, y: Ints, strengths: Sequence[float], folds: int) -> float:
    parts = _folds(x, y, folds)
    return _best(strengths, [[_right(x[a], y[a], x[b], y[b], c).mean() for a, b in parts] for c in strengths])


def _folds(x: Floats, y: Ints, folds: int) -> list[tuple[Ints, Ints]]:
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(folds, shuffle=True, random_state=SHUFFLE).split(x, y))


def _best(strengths: Sequence[float], accuracies: Sequence[Sequence[float]]) -> float:
    return strengths[int(np.argmax([round(100 * float(np.mean(each)), 2) for each in accuracies]))]


def _right(x: Floats, y: Ints, test: Floats, truth: Ints, strength: float) -> NDArray[np.bool_]:
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=strength, max_iter=STEPS).fit(x, y)
    return np.asarray(fitted.predict(test) == truth)


def _require_classes(labels: Ints, least: int, where: str) -> None:
    if not len(labels):
        raise UsageError(f"sentence-transfer, {where}: no sentences.")
    kinds, sizes = np.unique(labels, return_counts=True)
    if least > 1 and (len(kinds) < 2 or sizes.min() <= least):
        counts = ", ".join(f"{n} of class {kind}" for kind, n in zip(kinds, sizes, strict=True))
        raise UsageError(f"sentence-transfer, {where}: {counts}; {least} folds need two classes of more than {least}.")
