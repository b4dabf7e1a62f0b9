"""What losses over two views share: each of the 2B embeddings anchors once, with one positive and 2(B-1) negatives."""

import torch
from torch import Tensor

from benchsuite.objectives.blocks import Block
from benchsuite.objectives.pairwise import Pairwise
from benchsuite.objectives.softmax import Matrix, cross_entropy_rows


class Candidates(Pairwise):
    """Cosines of every anchor with its candidates, [2B, 2B-1]: the other view in column 0, then the negatives.

    Row i anchors first[i], row B+i second[i]. Negatives are both views of all other samples; an anchor is no candidate
    of its own.
    """

    positive = 0

    def __init__(self, first: Tensor, second: Tensor) -> None:
        size = len(first) + len(second)
        super().__init__(size, size - 1, first.dtype, first.device)
        self.first, self.second, self.both = first, second, torch.cat([first, second])

    def entries(self, block: Block) -> Tensor:
        s = block.of(self.both) @ self.both.T
        everyone = torch.arange(len(self.both), device=s.device)
        anchor, partner = block.of(everyone)[:, None], block.of(everyone.roll(len(self.first)))[:, None]
        other = everyone[:-2].expand(len(s), -1)
        other = other + (other >= torch.minimum(anchor, partner))  # steps over the lower of the two, then the higher:
        other = other + (other >= torch.maximum(anchor, partner))  # a selection by a mask takes twice the time
        return s.gather(1, torch.cat([partner, other], dim=1))

    def matches(self) -> Tensor:
        return (self.first * self.second).sum(1).repeat(2)


def nt_xent(logits: Matrix) -> Tensor:
    """NT-Xent of candidates divided by their temperatures: the mean of -log softmax(row)[0]."""
    if isinstance(logits, Pairwise):
        return cross_entropy_rows(logits)
    return (torch.logsumexp(logits, dim=1) - logits[:, 0]).mean()
