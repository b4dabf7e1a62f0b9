"""Softmax losses over a similarity matrix whose positives stand on the diagonal."""

from typing import TypeAlias

import torch
from torch import Tensor

Temperatures: TypeAlias = Tensor | float


def cross_entropy_rows(logits: Tensor) -> Tensor:
    """CE_rows(L) = mean_i of -log softmax(L_i)[i]: each row's anchor must pick its own column."""
    return (torch.logsumexp(logits, dim=1) - logits.diagonal()).mean()


def info_nce(similarity: Tensor, tau: Temperatures) -> Tensor:
    """Both directions of InfoNCE: 1/2 [CE_rows(S / tau) + CE_rows(S^T / tau^T)].

    `tau` is one number, or a [B, B] matrix with a temperature for each pair; the matrix is transposed with S,
    so that a pair has the same temperature whichever side anchors it. A vector is refused: whether it would
    belong to rows or to columns is exactly the mistake released code makes.
    """
    if isinstance(tau, Tensor) and tau.dim() == 1:
        raise ValueError("tau has one dimension; give a scalar or one temperature for each pair, [B, B].")
    logits = similarity / tau
    return 0.5 * (cross_entropy_rows(logits) + cross_entropy_rows(logits.T))
