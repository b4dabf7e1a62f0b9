"""Nearest-neighbour classification of frozen features, weighted and plain."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.base import PairDataset
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.labelled import Classification
from benchsuite.evaluation.rank_metrics import PLAIN
from benchsuite.evaluation.ranks import block_rows
from benchsuite.fields import Count, Positive
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

BLOCK = 512


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
    "knn-plain",
    title="Plain nearest neighbours",
    version=1,
    metrics=("k1_top1", "k10_top1"),
    headline="k1_top1",
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
        weights = (near.values / temperature).exp()
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
