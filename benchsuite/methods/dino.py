"""DINO: self-distillation with a centred and sharpened teacher (Caron et al., 2021)."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Ge
from torch import Tensor, nn
from torch.nn.functional import log_softmax, normalize

from benchsuite.fields import Count, Share, Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.heads import Head
from benchsuite.objectives.schedules import cosine, linear
from benchsuite.registry import register_method


@register_method(
    "dino",
    title="DINO",
    paper="caron2021",
    equation=r"-\frac12 \sum_{v \neq v'} softmax((g_\xi(v) - c) / \tau_t) \cdot \log softmax(g_\theta(v') / \tau_s)",
    needs=("image_view", "image_teacher", "image_view_teacher", "text_view", "text_teacher", "text_view_teacher"),
    serves=("image", "text"),
)
class DINO(Method):
    """Each view's distribution over learned prototypes is to match that of an averaged copy for the other view.

    Centring (c, a moving average of the copy's outputs) and sharpening (tau_teacher < tau_student) together keep it
    from collapsing (section 3.1). The copy's momentum rises from `momentum` to 1 along half a cosine; its temperature
    rises from `tau_start` to `tau_teacher`, in the paper over 30 epochs. The head has three layers with GELU, then
    prototypes of length 1 over a bottleneck normalised to length 1 (appendix C). The paper evaluates the copy.

    Traps: two global crops only; the paper's local crops (multi-crop) are left out. The head reads the embeddings
    behind the recipe's projection. c is updated after the loss. The temperature of the copy is lower than the
    student's, so that one factor on all temperatures changes how sharp both are. With a small tower, most of a step's
    time goes into 65536 prototypes.
    """

    normalizes = False
    evaluates: ClassVar[Literal["student", "teacher"]] = "teacher"
    miniature: ClassVar = {"hidden": 16, "bottleneck": 8, "prototypes": 12}

    tau_student: Temperature = 0.1
    """tau_s: temperature of the student."""
    tau_teacher: Temperature = 0.07
    """tau_t: temperature of the averaged copy after the warm-up."""
    tau_start: Temperature = 0.04
    """tau_t at the start."""
    warmup: Share = 0.1
    """Share of the training over which tau_t rises."""
    momentum: Share = 0.996
    """The copy's momentum at the start."""
    rises: bool = True
    """Raise the momentum to 1; if not, it stays, as in lightly's CIFAR-10 benchmark."""
    centre_momentum: Share = 0.9
    """Weight of the past in c."""
    prototypes: Count = 65536
    """K: how many outputs the head has."""
    hidden: Count = 2048
    """Width of the head's hidden layers."""
    bottleneck: Count = 256
    """Width in front of the prototypes."""
    norm: Literal["none", "batch"] = "none"
    """Norm in the head: none in the paper, batch norm in lightly's CIFAR-10 benchmark."""
    frozen_epochs: Annotated[int, Ge(0)] = 0
    """Epochs in which the prototypes stay as they are; 1 in released code."""

    def setup(self) -> None:
        if self.tau_start > self.tau_teacher:
            raise self.refuse(f"tau_start {self.tau_start} is above tau_teacher {self.tau_teacher}; it rises to it.")
        self.register_buffer("centre", torch.zeros(self.prototypes))

    def heads(self) -> Mapping[str, Head]:
        mlp = Head(3, self.hidden, self.bottleneck, norm=self.norm, activation="gelu", averaged=True)
        last = Head(1, out=self.prototypes, width=self.bottleneck, prototypes=True, averaged=True)
        return {"mlp": mlp, "prototypes": last}

    def teacher_momentum(self, clock: Clock) -> float:
        return cosine(self.momentum, 1.0, clock.progress / 2) if self.rises else self.momentum

    def temperature(self, clock: Clock) -> float:
        done = min(1.0, clock.progress / self.warmup) if self.warmup else 1.0
        return linear(self.tau_start, self.tau_teacher, done)

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        frozen, tau, centre = clock.epoch < self.frozen_epochs, self.temperature(clock), self.get_buffer("centre")
        student = [scores(self.head, view, frozen) for view in batch.views]
        with torch.no_grad():
            teacher = [scores(self.teacher_head, view) for view in batch.teacher_views]
            targets = [torch.softmax((output - centre.to(output)) / tau, dim=1) for output in teacher]
        losses = [
            -(target * log_softmax(output / self.tau_student, dim=1)).sum(1).mean()
            for target, output in zip(targets, student[::-1], strict=True)
        ]
        if self.training:
            centre.lerp_(torch.cat(teacher).mean(0).to(centre), 1 - self.centre_momentum)
        return Loss(torch.stack(losses).mean(), gauges={"temperature": tau, "entropy": entropy(torch.cat(targets))})


def scores(heads: nn.ModuleDict, x: Tensor, frozen: bool = False) -> Tensor:
    """The head's outputs, [B, K]: cosines of the bottleneck with the prototypes."""
    outputs: Tensor = heads["prototypes"](normalize(heads["mlp"](x), dim=1), frozen=frozen)
    return outputs


def entropy(shares: Tensor) -> Tensor:
    """The mean entropy of the rows; log K is uniform, 0 one prototype alone."""
    return -torch.xlogy(shares, shares).sum(1).mean()
