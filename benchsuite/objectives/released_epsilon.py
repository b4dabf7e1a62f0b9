"""The epsilon with which released code of the SogCLR family guards its divisions, reproduced without underflow.

Released code keeps s_i = u_i exp(-b_i), where b_i is the largest exponent that the sample ever had, and divides by
s_i + epsilon. That is a division by u_i + epsilon exp(b_i). Early in a training candidates may be nearer than the
positive, and b_i is large; later u_i falls far below epsilon exp(b_i), and the gradient vanishes.
"""

import math
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from benchsuite.objectives.repeats import Repeats

Release: TypeAlias = Literal["none", "isogclr", "tempnet", "amclr"]
ADDED = {"isogclr": 1e-10, "amclr": 1e-8}
LEAST_SUM = 1e-14
"""TempNet's code adds nothing, but keeps the sum over candidates, not their mean, from falling below this."""


class ReleasedEpsilon(nn.Module):
    """What one release divides by; remembers the largest exponent of every sample, written in training only."""

    highest: Tensor

    def __init__(self, num_samples: int, release: Release) -> None:
        super().__init__()
        self.release = release
        self.register_buffer("highest", torch.zeros(num_samples, dtype=torch.float64))

    @torch.no_grad()
    def forward(
        self, log_u: Tensor, highest: Tensor, size: Tensor, index: Tensor, in_turn: bool = False
    ) -> tuple[Tensor, Tensor]:
        """log u as the release reads it, and the log of what it divides by, both [K, B].

        `highest` are the largest exponents of the K contrasts' anchors, [K, B], taken together, or `in_turn`; `size` is
        how many candidates a mean is over, [B].
        """
        highest = Repeats(index).largest(highest.double())  # a sample met twice has one scale
        highest = highest.cummax(0).values if in_turn else highest.amax(0, keepdim=True).expand(log_u.shape)
        scale = torch.maximum(self.highest[index], highest)
        if self.training:
            self.highest[index] = scale[-1]
        exact = log_u.double()
        if self.release == "tempnet":
            read = divisor = torch.maximum(exact, scale + math.log(LEAST_SUM) - size.double().log())
        else:
            read, divisor = exact, torch.logaddexp(exact, scale + math.log(ADDED[self.release]))
        return read.to(log_u.dtype), divisor.to(log_u.dtype)
