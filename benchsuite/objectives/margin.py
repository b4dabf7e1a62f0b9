"""The max-margin ranking loss over a similarity matrix whose positives stand on the diagonal."""

import torch
from torch import Tensor


def max_margin(similarity: Tensor, margin: Tensor | float) -> Tensor:
    """Mean over i != j of relu(m_i - S_ii + S_ij) + relu(m_i - S_ii + S_ji), counted as 2B(B-1) terms.

    `margin` is one number, or [B] with a margin for each pair; it belongs to the pair whose positive is compared,
    as an anchor image (its row) and as an anchor text (its column). One pair alone costs nothing.
    """
    size = len(similarity)
    gap = (margin - similarity.diagonal())[:, None]
    towards_text, towards_image = torch.relu(gap + similarity), torch.relu(gap + similarity.T)
    others = ~torch.eye(size, dtype=torch.bool, device=similarity.device)
    return ((towards_text + towards_image) * others).sum() / max(2 * size * (size - 1), 1)
