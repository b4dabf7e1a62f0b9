"""What losses over two views share: each of the 2B embeddings anchors once, with one positive and 2(B-1) negatives."""

import torch
from torch import Tensor


def candidates(first: Tensor, second: Tensor) -> Tensor:
    """Cosines of every anchor with its candidates, [2B, 2B-1]: the other view in column 0, then the negatives.

    Row i anchors first[i], row B+i second[i]. Negatives are both views of all other samples; an anchor is no candidate
    of its own.
    """
    both = torch.cat([first, second])
    s = both @ both.T
    anchor = torch.arange(len(both), device=s.device)
    partner = anchor.roll(len(first))
    column = anchor.expand_as(s)
    negative = (column != anchor[:, None]) & (column != partner[:, None])
    return torch.cat([s[anchor, partner][:, None], s[negative].view(len(both), -1)], dim=1)


def nt_xent(logits: Tensor) -> Tensor:
    """NT-Xent of candidates divided by their temperatures: the mean of -log softmax(row)[0]."""
    return (torch.logsumexp(logits, dim=1) - logits[:, 0]).mean()
