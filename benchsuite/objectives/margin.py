"""The max-margin ranking loss over a similarity matrix whose positives stand on the diagonal."""

import torch
from torch import Tensor

from benchsuite.objectives.blocks import Block
from benchsuite.objectives.pairwise import Pairwise, pairwise, total


def max_margin(similarity: Pairwise | Tensor, margin: Tensor | float) -> Tensor:
    """Mean over i != j of relu(m_i - S_ii + S_ij) + relu(m_i - S_ii + S_ji), counted as 2B(B-1) terms.

    `margin` is one number, or [B] with a margin for each pair; it belongs to the pair whose positive is compared,
    as an anchor image (its row) and as an anchor text (its column). One pair alone costs nothing.
    """
    s = pairwise(similarity)
    size = len(s)
    gap = margin - s.positives()

    def each(block: Block) -> Tensor:
        entries = s.at(block)
        others = ~block.own(size, entries.device)
        if block.everything:
            return (torch.relu(gap[:, None] + entries) + torch.relu(gap[:, None] + entries.T)) * others
        return (torch.relu(block.of(gap)[:, None] + entries) + torch.relu(gap + entries)) * others

    return total(each, s) / max(2 * size * (size - 1), 1)
