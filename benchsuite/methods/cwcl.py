"""CWCL: continuously weighted contrastive loss (Srinivasa et al., 2023)."""

from typing import Literal

import torch
from torch import Tensor

from benchsuite.fields import Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.blocks import Block
from benchsuite.objectives.pairwise import Pairwise, by_rows, pairwise, similarities
from benchsuite.objectives.softmax import Matrix, cross_entropy_rows
from benchsuite.registry import register_method


@register_method(
    "cwcl",
    title="CWCL",
    paper="srinivasa2023",
    equation=r"-\frac1B\sum_i \frac{1}{\sum_j w_{ij}} \sum_j w_{ij} \log softmax(S_i/\tau)_j,"
    r"\ w_{ij} = \frac12 + \frac12\langle z_i, z_j\rangle",
)
class CWCL(Method):
    """InfoNCE that lets all candidates be positives to the degree that one modality finds them alike.

    The anchors of the weighing modality: L_w = -mean_i (1 / sum_j w_ij) sum_j w_ij log softmax(S_i / tau)_j, with
    w_ij = 1/2 + 1/2 <z_i, z_j> in [0, 1] between the anchors themselves and the full denominator. The other direction
    is plain InfoNCE. No gradient flows through w.

    Traps: in the paper z comes from a frozen, pretrained tower; where none is frozen, as in TeMo's CWCL*, the tower's
    own embeddings stand in, detached. The paper adds the two directions; here they are averaged like everyone
    else's, so that w = identity is InfoNCE. No official code exists. TeMo's Table 4 has it at tau 0.01 and 0.05.
    """

    tau: Temperature = 0.01
    """The temperature."""
    modality: Literal["image", "text"] = "image"
    """Whose similarities weigh, and whose anchors have weighted targets."""
    symmetric: bool = False
    """Weigh both directions, each by its own anchors' modality."""
    weights: Literal["own", "expert"] = "own"
    """Whose embeddings make the weights: the towers' own, detached, or a frozen expert's."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(f"{side}_expert" for side in self.weighing) if self.weights == "expert" else frozenset()

    @property
    def weighing(self) -> tuple[str, ...]:
        """The modalities whose anchors have weighted targets."""
        return ("image", "text") if self.symmetric else (self.modality,)

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        s = similarities(batch.image, batch.text)
        terms = {
            "i2t": self.direction(batch, "image", s / self.tau),
            "t2i": self.direction(batch, "text", s.T / self.tau),
        }
        return Loss(0.5 * (terms["i2t"] + terms["t2i"]), terms, {"temperature": self.tau})

    def direction(self, batch: PairBatch, anchor: Literal["image", "text"], logits: Pairwise) -> Tensor:
        if anchor not in self.weighing:
            return cross_entropy_rows(logits)
        own = getattr(batch, f"{anchor}_expert" if self.weights == "expert" else anchor)
        return weighted_cross_entropy_rows(logits, closeness(own))


def closeness(z: Tensor) -> Pairwise:
    """w_ij = 1/2 + 1/2 <z_i, z_j>, without gradient."""
    z = z.detach()
    return similarities(z, z).map(lambda s: (0.5 + 0.5 * s).clamp(0, 1))


def weighted_cross_entropy_rows(logits: Matrix, weights: Matrix) -> Tensor:
    """Cross-entropy of each row's softmax with the row's weights, scaled to sum to one, as targets."""

    rows, weight = pairwise(logits), pairwise(weights)

    def each(block: Block) -> Tensor:
        w = weight.at(block).to(rows.dtype)
        targets = w / w.sum(dim=1, keepdim=True)
        return -(targets * torch.log_softmax(rows.at(block), dim=1)).sum(dim=1)

    return by_rows(each, rows).mean()
