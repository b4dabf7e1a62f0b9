"""MoCo: contrast with a queue of keys that an averaged copy of the encoder made (He et al., 2020)."""

from typing import ClassVar

import torch
from torch import Tensor

from benchsuite.fields import Count, Share, Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.queue import Queue
from benchsuite.registry import register_method


@register_method(
    "moco",
    title="MoCo v2",
    paper="chen2020moco",
    equation=r"-\log \frac{e^{q \cdot k_+ / \tau}}{e^{q \cdot k_+ / \tau} + \sum_{k \in queue} e^{q \cdot k / \tau}}",
    needs=("image_view_teacher", "text_view_teacher"),
    serves=("image", "text"),
)
class MoCo(Method):
    """InfoNCE of a view against the averaged copy's embedding of the other view and a queue of those of past batches.

    The negatives are the queue alone (Algorithm 1 of MoCo); the keys join it after the loss. Temperature 0.2, queue and
    momentum are MoCo v2's; its two-layer head is the recipe's projection. `symmetric` lets both views be queries and
    averages the two losses, as lightly's CIFAR-10 benchmark does.

    Traps: the queue starts empty, where released code starts with random vectors; so the first step has no negatives
    and no gradient. Keys are not shuffled between processes for their batch norm (section 3.3), which can tell which
    keys share a batch. A queue that is longer than the data has each image's own past keys among the negatives.
    """

    miniature: ClassVar = {"queue_size": 12}

    tau: Temperature = 0.2
    """The temperature; MoCo v1 has 0.07."""
    momentum: Share = 0.999
    """The copy's momentum."""
    queue_size: Count = 65536
    """How many keys are kept."""
    symmetric: bool = False
    """Both views are queries, in turn."""

    def setup(self) -> None:
        self.queue = Queue(self.queue_size, self.width)

    @property
    def needs(self) -> frozenset[str]:
        both = {"image_view", "image_teacher", "text_view", "text_teacher"} if self.symmetric else set()
        return super().needs | both

    def teacher_momentum(self, clock: Clock) -> float:
        return self.momentum

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        pairs = [("", "_view_teacher"), ("_view", "_teacher")] if self.symmetric else [("", "_view_teacher")]
        views = [(batch.of_tower(query), batch.of_tower(key)) for query, key in pairs]
        past = self.queue.values(views[0][0])
        losses = [self.contrast(query, key, past) for query, key in views]
        for _, key in views:
            self.queue.push(key)
        return Loss(torch.stack(losses).mean(), gauges={"queue": float(len(self.queue))})

    def contrast(self, query: Tensor, key: Tensor, past: Tensor) -> Tensor:
        """-log of the key's share in the softmax of its query."""
        logits = torch.cat([(query * key).sum(1, keepdim=True), query @ past.T], dim=1) / self.tau
        return (torch.logsumexp(logits, dim=1) - logits[:, 0]).mean()
