"""SigLIP: every pair of the batch is a yes-or-no question, with no softmax over candidates."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from benchsuite.fields import Real, Temperature
from benchsuite.methods.base import Clock, Loss, Method, ParameterGroup
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.blocks import Block
from benchsuite.objectives.pairwise import similarities, total
from benchsuite.registry import register_method


@register_method(
    "siglip",
    title="SigLIP",
    paper="zhai2023",
    equation=r"-\frac1B \sum_{ij} \log \sigma(z_{ij} (t S_{ij} + b)),\ z_{ii} = 1,\ z_{i \neq j} = -1,\ t = e^{t'}",
)
class SigLIP(Method):
    """Sigmoid loss: each image-text pair of the batch is classified alone as matched or not.

    L = -1/B sum_ij log sigmoid(z_ij (t S_ij + b)), Algorithm 1 of the paper: the sum over all pairs is divided by B,
    not by B^2. Scale t = exp(t') and bias b are learned, without weight decay.

    Traps: at the start nearly all pairs are negative; b = -10 makes the first loss small. With b = 0 the first steps
    push all similarities down.
    """

    tau: Temperature = 0.1
    """Where 1/t starts: the paper's t is 10."""
    bias: Real = -10.0
    """Where b starts."""

    def setup(self) -> None:
        self.log_scale = nn.Parameter(torch.tensor(-math.log(self.tau)))
        self.shift = nn.Parameter(torch.tensor(self.bias))

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        logits = similarities(batch.image, batch.text) * torch.exp(self.log_scale) + self.shift  # [B, B]

        def each(block: Block) -> Tensor:
            matched = 2 * block.own(batch.size, logits.device).to(logits.dtype) - 1
            return logsigmoid(matched * logits.at(block))

        gauges = {"temperature": torch.exp(-self.log_scale).detach(), "bias": self.shift.detach()}
        return Loss(-total(each, logits) / batch.size, gauges=gauges)

    def parameter_groups(self) -> list[ParameterGroup]:
        return [ParameterGroup((self.log_scale, self.shift), weight_decay=0.0)]
