"""Softmax losses over a similarity matrix whose positives stand on the diagonal."""

from typing import TypeAlias

import torch
from torch import Tensor

from benchsuite.objectives.blocks import Block, whole
from benchsuite.objectives.pairwise import Pairwise, by_rows, combined, log_sums, pairwise

Matrix: TypeAlias = Pairwise | Tensor
"""`similarities(x, y)`, in blocks of rows; or a tensor, which is held as a whole."""
Temperatures: TypeAlias = Pairwise | Tensor | float


def cross_entropy_rows(logits: Matrix) -> Tensor:
    """CE_rows(L) = mean_i of -log softmax(L_i)[i]: each row's anchor must pick its own column."""
    if isinstance(logits, Tensor):
        return (torch.logsumexp(logits, dim=1) - logits.diagonal()).mean()

    def each(block: Block) -> Tensor:
        entries = logits.at(block)
        return torch.logsumexp(entries, dim=1) - logits.positives_of(entries, block)

    return by_rows(each, logits).mean()


def info_nce(similarity: Matrix, tau: Temperatures) -> Tensor:
    """Both directions of InfoNCE: 1/2 [CE_rows(S / tau) + CE_rows(S^T / tau^T)].

    `tau` is one number, or a [B, B] matrix with a temperature for each pair, such as `similarity.map(function)`; the
    matrix is transposed with S, so that a pair has the same temperature whichever side anchors it. A vector is refused:
    whether it would belong to rows or to columns is exactly the mistake released code makes.
    """
    if isinstance(tau, Tensor) and tau.dim() == 1:
        raise ValueError("tau has one dimension; give a scalar or one temperature for each pair, [B, B].")
    if isinstance(similarity, Tensor) and not isinstance(tau, Pairwise):
        logits: Matrix = similarity / tau
    else:
        logits = combined(torch.div, pairwise(similarity), tau)
    if isinstance(logits, Tensor) or whole(*logits.shape):
        return 0.5 * (cross_entropy_rows(logits) + cross_entropy_rows(logits.T))
    rows, columns, positives = log_sums(logits)
    return 0.5 * ((rows - positives).mean() + (columns - positives).mean())
