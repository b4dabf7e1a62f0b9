"""SoftCLIP: targets that are soft to the degree that one modality finds two samples alike."""

from typing import Literal

import torch
from torch import Tensor

from benchsuite.fields import NonNegative
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.infonce import InfoNCELearnable
from benchsuite.objectives.blocks import Block
from benchsuite.objectives.pairwise import Pairwise, many_by_rows, similarities
from benchsuite.registry import register_method


@register_method(
    "softclip",
    title="SoftCLIP",
    paper="gao2024",
    defaults="this suite, not checked against the paper",
    equation=r"\alpha\,CLIP + \beta\,D(q_i, p_i) + \gamma\,D(q_i^*, p_i^*),\ p_i = softmax(S_i/\tau),"
    r"\ q_i = softmax(\langle r_i, r_j \rangle/\tau),\ p_{ij}^* = p_{ij} / \sum_{k \neq i} p_{ik}",
    needs=("image_expert", "text_expert"),
    contains={"infonce-learnable": {"soft_weight": 0, "negatives_weight": 0}},
)
class SoftCLIP(InfoNCELearnable):
    """CLIP whose matches also follow the similarities inside of each modality, once with and once without the positive.

    For anchors i of one modality, p_i is the softmax over the other modality's candidates, and q_i that over its own in
    an embedding r, without gradient. D is the symmetric KL divergence, half of KL(q, p) + KL(p, q), averaged over
    anchors and directions. The positive dominates q; p* and q* are without it and disentangle the relations among
    negatives. The temperature is one, learned as for `infonce-learnable`.

    Deviation: the paper's r are fine-grained, from the regions of an object detector for images and their tags for
    texts. No batch has regions here: r is a frozen expert's embedding of the whole image or caption, or, with
    `guidance="own"`, the tower's own.

    Not checked against the paper's text: the weights (each 1 here), that D is halved, that q takes the temperature of
    p, and that a direction follows its anchors' modality. No official code is known.

    Trap: an expert whose cosines are all high makes q nearly flat; look at its cosines first.
    """

    guidance: Literal["expert", "own"] = "expert"
    """Whose similarities are the targets: frozen experts', or the towers' own."""
    hard_weight: NonNegative = 1.0
    """alpha: weight of CLIP's loss, whose targets are hard."""
    soft_weight: NonNegative = 1.0
    """beta: weight of the soft targets."""
    negatives_weight: NonNegative = 1.0
    """gamma: weight of the soft targets among negatives."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(("image_expert", "text_expert") if self.guidance == "expert" else ())

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        tau = self.temperature
        guides = (batch.image_expert, batch.text_expert) if self.guidance == "expert" else (batch.image, batch.text)
        similarity = similarities(batch.image, batch.text)
        terms = {name: batch.image.new_zeros(()) for name in ("hard", "soft", "negatives")}
        for s, r in zip((similarity, similarity.T), guides, strict=True):
            for name, each in self.direction(s, similarities(r, r), tau).items():
                terms[name] = terms[name] + each.mean() / 2
        total = self.hard_weight * terms["hard"] + self.soft_weight * terms["soft"]
        return Loss(total + self.negatives_weight * terms["negatives"], terms, {"temperature": tau.detach()})

    def direction(self, s: Pairwise, guide: Pairwise, tau: Tensor) -> dict[str, Tensor]:
        """The terms of each anchor of one direction, [B]."""

        def each(block: Block) -> tuple[Tensor, Tensor, Tensor]:
            logits, target = s.at(block) / tau, (guide.at(block).to(s.dtype) / tau).detach()
            hard = torch.logsumexp(logits, dim=1) - s.positives_of(logits, block)
            own = block.own(len(s), logits.device)
            negatives = symmetric_kl(without(own, target), without(own, logits))
            return hard, symmetric_kl(target, logits), negatives

        return dict(zip(("hard", "soft", "negatives"), many_by_rows(each, s), strict=True))


def symmetric_kl(one: Tensor, other: Tensor) -> Tensor:
    """Half of KL(q, p) + KL(p, q) of the rows' softmax distributions, one number for each."""
    log_q, log_p = torch.log_softmax(one, dim=1), torch.log_softmax(other, dim=1)
    return 0.5 * ((log_q.exp() - log_p.exp()) * (log_q - log_p)).sum(dim=1)


def without(own: Tensor, logits: Tensor) -> Tensor:
    """Each row without its positive, [B, B - 1]."""
    return logits[~own].view(len(logits), -1)
