"""Classification: zero-shot by prompts, and of frozen features by neighbours and by a linear probe; and what
all tasks read that classify: labels with names, and features of splits with their classes.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data.base import PairDataset, Split, Vectors
from benchsuite.errors import UsageError, require_known
from benchsuite.evaluation.base import Embedder, Task, tensor_of
from benchsuite.evaluation.rank_metrics import PLAIN
from benchsuite.evaluation.ranks import block_rows, ranks_of_columns
from benchsuite.fields import Count, Positive
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

BLOCK = 512
SMALL = 1 / 80
"""A temperature below which exp(1 / temperature) comes near the largest float."""


@dataclass(frozen=True)
class LabelledRows:
    """One split's features [N, D], each row with its class [N]."""

    rows: Tensor
    labels: Tensor


def label_rows(dataset: PairDataset, split: Split, classes: str) -> NDArray[np.int64]:
    """A split's labels of that name."""
    require_known("labels", classes, split.labels, f"{dataset.card.name}, split {split.name}: ")
    return split.labels[classes]


def class_labels(task: str, dataset: PairDataset, split: str, classes: str) -> Tensor:
    """A split's classes, [N]: one for each sample, each with a name."""
    names, samples = dataset.classes_of(classes), dataset.split(split)
    labels = tensor_of(label_rows(dataset, samples, classes), torch.int64)
    if labels.shape != (len(samples),):
        hint = "; the task multilabel takes several labels an image" if labels.dim() == 2 else ""
        shape = list(labels.shape)
        raise UsageError(f"{task}: split {split} has {len(samples)} samples but labels of shape {shape}{hint}.")
    if outside := labels[(labels < 0) | (labels >= len(names))][:1].tolist():
        raise UsageError(f'{task}: split {split} has class {outside[0]} of "{classes}", which has {len(names)} names.')
    return labels


def class_reads(task: str, dataset: PairDataset, split: str, classes: str) -> Iterator[Callable[[], object]]:
    """The split, the names of the classes, and its labels: three calls, so that each of them is refused by itself."""
    yield partial(dataset.split, split)
    yield partial(dataset.classes_of, classes)
    yield partial(class_labels, task, dataset, split, classes)


class Classification(Task):
    """Learns classes from the features of one split, and classifies those of another."""

    classes: str
    """Name of the dataset's set of classes."""
    side: Literal["image", "text"] = "image"
    """Whose features: image, or text (each image's first caption)."""
    bank: str = "train"
    """The split to learn from."""
    split: str = "test"
    """The split to classify."""

    @property
    def embeds(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({self.side})

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        name = self.card.name
        for split in (self.bank, self.split):
            yield from class_reads(name, dataset, split, self.classes)
            if self.side == "text":
                yield partial(self._first_captions, dataset, split)
        yield lambda: self._require_taught(
            dataset, *(class_labels(name, dataset, each, self.classes) for each in (self.bank, self.split))
        )

    def rows(self, embed: Embedder, dataset: PairDataset) -> tuple[LabelledRows, LabelledRows]:
        """Of the bank, then of the split to classify: L2-normalised features before the projection, with labels."""
        bank, queries = (self._rows(embed, dataset, split) for split in (self.bank, self.split))
        self._require_taught(dataset, bank.labels, queries.labels)
        return bank, queries

    def _rows(self, embed: Embedder, dataset: PairDataset, split: str) -> LabelledRows:
        labels = class_labels(self.card.name, dataset, split, self.classes)
        if self.side == "image":
            rows = embed.images(dataset.split(split), features=True)
        else:
            rows = embed.texts(self._first_captions(dataset, split), features=True)
        require_rows(self.card.name, f"features of split {split}", rows)
        return LabelledRows(rows, labels)

    def _first_captions(self, dataset: PairDataset, split: str) -> list[str]:
        return [texts[0] for texts in dataset.split(split).captions_for(f"{self.card.name} of texts")]

    def _require_taught(self, dataset: PairDataset, bank: Tensor, queries: Tensor) -> None:
        """Refuse queries of a class that has no example in the bank."""
        if empty := sorted(set(queries.tolist()) - set(bank.tolist())):
            name = dataset.class_names[self.classes][empty[0]]
            raise UsageError(
                f'{self.card.name}: class "{name}" of "{self.classes}" is asked for but is empty where features are '
                f"learned from. Use a larger or another bank of {dataset.card.name}."
            )


def require_rows(task: str, what: str, rows: Tensor) -> None:
    """Refuse anything but a matrix of finite numbers with at least one row."""
    if rows.dim() != 2 or not len(rows):
        raise UsageError(f"{task}: {what} must be [N, D] with N at least 1; given {list(rows.shape)}.")
    if bad := torch.nonzero(~torch.isfinite(rows).all(1)).flatten()[:1].tolist():
        raise UsageError(f"{task}: {what}: row {bad[0]} is not finite.")


@register_task("knn", title="Weighted nearest neighbours", version=2, metrics=("top1", "top5"), headline="top1")
class NearestNeighbours(Classification):
    """Top-1/5 accuracy of a vote among the k nearest training samples, each weighing exp(cos / temperature).

    Features are the tower's own, before the projection, L2-normalised. k = 200 and temperature 0.1 are the protocol of
    DySTreSS's small-scale tables; those of ImageNet-100 take k = 20. Ties between classes count against the model:
    a class without votes ranks last.
    """

    k: Count = 200
    """Number of neighbours; the whole bank if it is smaller."""
    temperature: Positive = 0.1
    """Of the vote weights."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        bank, queries = self.rows(embed, dataset)
        ranks = vote_ranks(queries.rows, bank.rows, bank.labels, queries.labels, self.k, self.temperature)
        return self.from_ranks({"class": ranks})


@register_task(
    "knn-plain", title="Plain nearest neighbours", version=1, metrics=("k1_top1", "k10_top1"), headline="k1_top1"
)
class PlainNearestNeighbours(Classification):
    """Accuracy of an unweighted vote among the 1 and the 10 nearest training samples by Euclidean distance (TeMo, TS).

    Features are the tower's own, before the projection, L2-normalised. A class wins only with more votes than any
    other: ties count against the model. So k = 10 is slightly lower than in code where the first class of a tie wins.
    """

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        bank, queries = self.rows(embed, dataset)
        by_k = plain_vote_ranks(queries.rows, bank.rows, bank.labels, queries.labels, PLAIN)
        return self.from_ranks({f"k{k}": ranks for k, ranks in by_k.items()})


def vote_ranks(
    queries: Tensor, bank: Tensor, labels: Tensor, truth: Tensor, k: int, temperature: float
) -> NDArray[np.int32]:
    """For each query, the rank of its true class by weighted votes; 1 is best. Rows are L2-normalised."""
    classes = int(max(labels.max(), truth.max())) + 1
    ranks, block = [], min(BLOCK, block_rows(max(len(bank), classes)))
    for start in range(0, len(queries), block):
        near = (queries[start : start + block] @ bank.T).topk(min(k, len(bank)), dim=1)
        # of small temperatures by the nearest's vote, as exp(1 / temperature) would overflow
        shift = near.values[:, :1] if temperature < SMALL else 0.0
        weights = ((near.values - shift) / temperature).exp()
        ranks.append(_rank_of_truth(weights, labels[near.indices], truth[start : start + block], classes))
    return torch.cat(ranks).numpy().astype(np.int32)


def plain_vote_ranks(
    queries: Tensor, bank: Tensor, labels: Tensor, truth: Tensor, ks: tuple[int, ...]
) -> dict[int, NDArray[np.int32]]:
    """For each k and query, the rank of its true class by votes of the k nearest; 1 is best.

    Which of equally distant samples is the k-th is not defined.
    """
    classes = int(max(labels.max(), truth.max())) + 1
    blocks: dict[int, list[Tensor]] = {k: [] for k in ks}
    lengths = bank.norm(dim=1).square()
    block = min(BLOCK, block_rows(max(len(bank), classes)))
    for start in range(0, len(queries), block):
        nearness = torch.addmm(lengths, queries[start : start + block], bank.T, beta=-1, alpha=2)  # |q|² - |q - b|²
        near = labels[nearness.topk(min(max(ks), len(bank)), dim=1).indices]
        for k in ks:
            votes = torch.ones(near[:, :k].shape)
            blocks[k].append(_rank_of_truth(votes, near[:, :k], truth[start : start + block], classes))
    return {k: torch.cat(ranks).numpy().astype(np.int32) for k, ranks in blocks.items()}


def _rank_of_truth(weights: Tensor, near: Tensor, truth: Tensor, classes: int) -> Tensor:
    votes = weights.new_zeros(len(near), classes).scatter_add_(1, near, weights)
    return (~(votes < votes.gather(1, truth[:, None]))).sum(1)


@register_task(
    "linear-probe",
    title="Linear probe",
    version=2,
    metrics=("top1", "top5"),
    measures=("iterations", "converged"),
    headline="top1",
)
class LinearProbe(Classification):
    """Top-1/5 accuracy of multinomial logistic regression with an L2 penalty, fitted on the training split's features.

    Features are the tower's own, before the projection, L2-normalised, in double precision; scikit-learn's L-BFGS. The
    objective is |W|² / 2 + c · (sum of the samples' losses), without the intercept; of two classes, W is one vector.
    Ties count against the model.
    """

    c: Positive = 1.0
    """Inverse strength of the penalty."""
    max_iterations: Count = 1000
    """Limit for L-BFGS. The measure `converged` says whether it was enough."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        bank, queries = self.rows(embed, dataset)
        ranks, fitted = probe_ranks(bank, queries, self.c, self.max_iterations)
        return replace(self.from_ranks({"class": ranks}), measures=fitted)


def probe_ranks(
    bank: LabelledRows, queries: LabelledRows, c: float, max_iterations: int
) -> tuple[NDArray[np.int32], dict[str, float]]:
    """For each query, the rank of its true class by the fitted scores (1 is best), and statistics of the fit.

    A class that the bank lacks ranks last.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    known = np.unique(bank.labels.numpy())
    classes = int(max(known.max(), int(queries.labels.max()))) + 1
    scores = np.full((len(queries.rows), classes), -np.inf)
    fitted = {"iterations": 0.0, "converged": 1.0}
    if len(known) == 1:
        scores[:, known] = 0.0
    else:
        model = LogisticRegression(C=c, max_iter=max_iterations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(bank.rows.double().numpy(), bank.labels.numpy())
        decision = model.decision_function(queries.rows.double().numpy())
        scores[:, known] = np.stack([-decision, decision], 1) if decision.ndim == 1 else decision
        iterations = int(np.max(model.n_iter_))
        fitted = {"iterations": float(iterations), "converged": float(iterations < max_iterations)}
    right = scores[np.arange(len(scores)), queries.labels.numpy()]
    return (~(scores < right[:, None])).sum(1).astype(np.int32), fitted


class Prompted(Task):
    """Compares images with classes, each known by its prompts."""

    embeds: ClassVar = frozenset({"image", "text"})

    classes: str
    """Name of the dataset's set of classes."""
    templates: str
    """Name of the dataset's set of prompt templates."""
    split: str = "test"
    """Which images to classify."""


@register_task(
    "zero-shot", title="Zero-shot classification", version=1, metrics=("top1", "top3", "top5", "top10"), headline="top1"
)
class ZeroShot(Prompted):
    """Top-1/3/5/10 accuracy of choosing the class whose prompts are most similar to the image.

    A class's prompts are embedded, normalised, averaged over the templates and normalised again. The set of templates
    is part of the protocol, because results depend on it. Ties count against the model. Top-k would always be 1
    where there are k classes or fewer, and is not reported there.
    """

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(dataset.templates_of, self.templates)
        yield from class_reads("zero-shot", dataset, self.split, self.classes)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        labels = class_labels("zero-shot", dataset, self.split, self.classes)
        prompts = dataset.prompts_for(self.classes, self.templates)
        ranks = ranks_of_columns(embed.images(dataset.split(self.split)), class_embeddings(embed, prompts), labels)
        return self.from_ranks({"class": ranks, "classes": np.array([len(prompts)], np.int32)})


def class_embeddings(embed: Embedder, prompts: Sequence[Sequence[str]] | Vectors) -> Tensor:
    """One normalised embedding for each class, [C, D]."""
    embeddings = embed.texts([prompt for own in prompts for prompt in own]).view(len(prompts), len(prompts[0]), -1)
    return normalize(embeddings.mean(1), dim=-1)
