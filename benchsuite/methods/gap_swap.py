"""Closing the modality gap by exchanging entries between the modalities (Yaras et al.)."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from benchsuite.fields import Share
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.infonce import InfoNCELearnable
from benchsuite.registry import register_method


class ModalitySwap(InfoNCELearnable):
    """The baseline, InfoNCE with a learned temperature, on embeddings that were mixed in a share p of the steps.

    The gradient flows through the mixing to the tower that each entry came from. Rows x' and y' are no longer of length
    one, and the paper feeds them to the loss as they are. Draws come from the global generator, seeded for each step:
    first whether this step swaps, then what; in float32, so that the precision of the towers does not change them.
    """

    excuses: ClassVar[Mapping[str, str]] = {"permutation": "what is swapped is drawn for places in the batch"}

    p: Share = 0.001
    """Share of the steps in which anything is swapped; 0 is the baseline."""
    renormalize: bool = False
    """Give mixed rows length one again before the loss (the paper does not)."""

    def setup(self) -> None:
        super().setup()
        self.swaps: Tensor
        self.register_buffer("swaps", torch.zeros((), dtype=torch.int64))

    @abstractmethod
    def swap(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """x' and y': the embeddings with entries exchanged at random."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        swaps = torch.rand(()).item() < self.p
        if swaps:
            image, text = self.swap(batch.image, batch.text)
            batch = PairBatch(image=image, text=text)
            batch = batch.normalized() if self.renormalize else batch
        loss = super().loss(batch, clock)
        if self.training:
            self.swaps += swaps
        return Loss(loss.total, loss.terms, {**loss.gauges, "swapped": float(swaps), "swaps": self.swaps.clone()})


@register_method(
    "gap-hard-swap",
    title="HS",
    paper="modality-gap",
    equation=r"(x'_{id}, y'_{id}) = (y_{id}, x_{id})\ \text{with probability}\ \frac12",
    acts=({"statement": "Steps have swapped", "gauge": "swaps", "at_least": 1, "off": ({"p": 0},)},),
    contains={"infonce-learnable": {"p": 0}},
)
class HardSwap(ModalitySwap):
    """Entries of image and text change places, each with probability 1/2.

    Appendix D.2 tries p from 0.001 to 1; Table 2 has 0.001. x + y stays as it was.
    """

    def swap(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return hard_swap(x, y, torch.rand(x.shape, device=x.device) < 0.5)


@register_method(
    "gap-hard-swap-feature",
    title="Hard swap feature",
    paper="modality-gap",
    equation=r"(x'_i, y'_i) = (y_i, x_i)\ \text{with probability}\ \frac12",
    acts=({"statement": "Steps have swapped", "gauge": "swaps", "at_least": 1, "off": ({"p": 0},)},),
    contains={"infonce-learnable": {"p": 0}},
)
class HardSwapFeature(ModalitySwap):
    """Whole embeddings of image and text change places, each pair with probability 1/2.

    Appendix F and Table 5, which name no p (0.001 here, as for HS) and no probability (1/2, as for HS).
    """

    def swap(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return hard_swap(x, y, torch.rand(len(x), 1, device=x.device) < 0.5)


@register_method(
    "gap-soft-swap",
    title="SS",
    paper="modality-gap",
    equation=r"x' = \lambda x + (1-\lambda) y,\ y' = \lambda y + (1-\lambda) x,\ \lambda_{id} \sim U[0, 1]",
    acts=({"statement": "Steps have swapped", "gauge": "swaps", "at_least": 1, "off": ({"p": 0},)},),
    contains={"infonce-learnable": {"p": 0}},
)
class SoftSwap(ModalitySwap):
    """Entries of image and text are mixed, each in a proportion of its own, uniform on [0, 1].

    Appendix D.2 tries p from 0.01 to 0.1; Table 2 has 0.05. x + y stays as it was.
    """

    p: Share = 0.05
    """Share of the steps in which anything is mixed; 0 is the baseline."""

    def swap(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        kept = torch.rand(x.shape, device=x.device).to(x.dtype)
        return kept * x + (1 - kept) * y, kept * y + (1 - kept) * x


def hard_swap(x: Tensor, y: Tensor, swapped: Tensor) -> tuple[Tensor, Tensor]:
    """x and y, [B, D], with their entries exchanged where `swapped` (broadcast to [B, D]) is true."""
    return torch.where(swapped, y, x), torch.where(swapped, x, y)
