"""Exchanging the entries of paired embeddings between the two modalities."""

import torch
from torch import Tensor


def hard_swap(x: Tensor, y: Tensor, swapped: Tensor) -> tuple[Tensor, Tensor]:
    """x and y, [B, D], with their entries exchanged where `swapped` (broadcast to [B, D]) is true."""
    return torch.where(swapped, y, x), torch.where(swapped, x, y)


def soft_swap(x: Tensor, y: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
    """x' = kept x + (1 - kept) y and y' = kept y + (1 - kept) x, entry by entry."""
    return kept * x + (1 - kept) * y, kept * y + (1 - kept) * x
