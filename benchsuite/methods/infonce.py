"""InfoNCE as CLIP trains it, with a fixed or a learnable temperature."""

import math
from typing import Annotated, Literal

import torch
from annotated_types import Ge
from torch import Tensor, nn

from benchsuite.fields import Finite, Temperature
from benchsuite.methods.base import Clock, Loss, Method, ParameterGroup, clamp_
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.pairwise import similarities
from benchsuite.objectives.softmax import info_nce
from benchsuite.registry import register_method


@register_method("infonce", title="InfoNCE", paper="radford2021", equation=r"\frac12[CE(S/\tau) + CE(S^\top/\tau)]")
class InfoNCE(Method):
    """InfoNCE in both directions at one fixed temperature.

    L = 1/2 [CE_rows(S/tau) + CE_rows(S^T/tau)]; the positive stays in the denominator. The baseline of every
    multimodal table here; TeMo and MM-TS fix tau at 0.01.
    """

    tau: Temperature = 0.01
    """The temperature."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        total = info_nce(similarities(batch.image, batch.text), self.tau)
        return Loss(total, gauges={"temperature": self.tau})


@register_method(
    "infonce-learnable", title="InfoNCE, learnable temperature", paper="radford2021", equation=r"1/\tau = e^{\nu}"
)
class InfoNCELearnable(Method):
    """InfoNCE whose temperature is learned with the towers.

    1/tau = exp(nu), starting at tau = 0.07, clamped to at most 100 after each step, without weight decay.
    `parameter="temperature"` is what one released family does instead: tau itself is the parameter, clamped to
    [0.001, 0.5], and its weight decay of 0.02 stays on because the no-decay rule misses a 0-d parameter.
    """

    tau: Temperature = 0.07
    """Where the temperature starts."""
    parameter: Literal["log-scale", "temperature"] = "log-scale"
    """Which quantity is learned: nu (the paper), or tau itself (a released code base)."""
    max_scale: Annotated[float, Ge(1), Finite] = 100.0
    """Largest 1/tau under "log-scale"."""

    def setup(self) -> None:
        start = -math.log(self.tau) if self.parameter == "log-scale" else self.tau
        self.learned = nn.Parameter(torch.tensor(start))

    @property
    def temperature(self) -> Tensor:
        return torch.exp(-self.learned) if self.parameter == "log-scale" else self.learned

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        tau = self.temperature
        total = info_nce(similarities(batch.image, batch.text), tau)
        return Loss(total, gauges={"temperature": tau.detach()})

    def parameter_groups(self) -> list[ParameterGroup]:
        return [ParameterGroup((self.learned,), weight_decay=0.0 if self.parameter == "log-scale" else 0.02)]

    def after_step(self) -> None:
        if self.parameter == "log-scale":
            clamp_(self.learned, 0.0, math.log(self.max_scale))
        else:
            clamp_(self.learned, 0.001, 0.5)
