"""InfoNCE with smoothed targets."""

import torch
from torch.nn.functional import cross_entropy

from benchsuite import Clock, Loss, Method, PairBatch, register_method
from benchsuite.fields import Share, Temperature


@register_method(
    "example-smoothed",
    title="Smoothed InfoNCE",
    paper="example2026",
    equation=r"(1 - \alpha) \, \mathrm{InfoNCE} + \alpha \, \mathrm{CE}(\mathrm{uniform}, p)",
)
class Smoothed(Method):
    """InfoNCE whose targets give a share of their weight to all candidates alike."""

    tau: Temperature = 0.07
    smoothing: Share = 0.1
    """The share of all candidates together."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        """The mean of both directions."""
        logits = batch.image @ batch.text.T / self.tau
        own = torch.arange(len(logits), device=logits.device)
        ways = [cross_entropy(rows, own, label_smoothing=self.smoothing) for rows in (logits, logits.T)]
        return Loss((ways[0] + ways[1]) / 2)
