"""Nearest-neighbour classification of frozen features."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UsageError, unknown
from benchsuite.evaluation.base import Embedder, Scores, Task
from benchsuite.evaluation.ranks import recall
from benchsuite.fields import Count, Positive
from benchsuite.registry import register_task

BLOCK = 512


@register_task("knn", title="Weighted nearest neighbours", version=1, metrics=("top1",))
class NearestNeighbours(Task):
    """Accuracy of a vote among the k nearest training samples, each weighing exp(cos / temperature).

    Features are the tower's own, before the projection, L2-normalised. k = 200 and temperature 0.1 are the protocol of
    DySTreSS's small-scale tables. Ties between classes count against the model.
    """

    classes: str
    """Name of the dataset's set of classes."""
    side: str = "image"
    """Whose features: image, or text (each picture's first caption)."""
    k: Count = 200
    """Neighbours; all of them where there are fewer."""
    temperature: Positive = 0.1
    """Of the votes."""
    bank: str = "train"
    """Where neighbours come from."""
    split: str = "test"
    """What is classified."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        if self.classes not in dataset.class_names:
            raise unknown("set of classes", self.classes, dataset.class_names, f"{dataset.card.name}: ")
        bank, queries = dataset.split(self.bank), dataset.split(self.split)
        labels, truth = (torch.from_numpy(s.labels[self.classes]) for s in (bank, queries))
        points, neighbours = self._features(embed, queries), self._features(embed, bank)
        ranks = vote_ranks(points, neighbours, labels, truth, self.k, self.temperature)
        return Scores({"top1": recall(ranks, 1)}, {"samples": len(ranks)}, {"class": ranks})

    def _features(self, embed: Embedder, split: Split) -> Tensor:
        match self.side:
            case "image":
                return embed.images(split, features=True)
            case "text":
                return embed.texts([texts[0] for texts in split.captions], features=True)
            case _:
                raise UsageError(f'knn: side "{self.side}" is neither image nor text.')


def vote_ranks(
    queries: Tensor, bank: Tensor, labels: Tensor, truth: Tensor, k: int, temperature: float
) -> NDArray[np.int32]:
    """For each query, the rank of its true class by votes; 1 is best."""
    classes = int(max(labels.max(), truth.max())) + 1
    found = []
    for start in range(0, len(queries), BLOCK):
        near = (queries[start : start + BLOCK] @ bank.T).topk(min(k, len(bank)), dim=1)
        weights = (near.values / temperature).exp().unsqueeze(-1)
        votes = (weights * one_hot(labels[near.indices], classes)).sum(1)
        found.append((votes >= votes.gather(1, truth[start : start + BLOCK, None])).sum(1))
    return torch.cat(found).numpy().astype(np.int32)
