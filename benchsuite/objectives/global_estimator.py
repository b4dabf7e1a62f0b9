"""SogCLR's estimator of a global contrastive objective: a moving average, for each sample, of its mean exponential.

An anchor's objective is tau log g_i, g_i = mean_j exp((S_ij - S_ii) / tau), the mean over the whole data set; a batch
gives a noisy g_i, and u_i <- (1 - gamma) u_i + gamma g_i remembers it. The gradient is tau / u_i times that of g_i.
Everything is kept as logarithms: exp((S_ij - S_ii) / tau) itself overflows float32 at tau = 0.01 and a gap of 0.9.
What released code does instead of that is in `released_epsilon.py`.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

FirstVisit: TypeAlias = Literal["g", "gamma-g", "first-epoch"]


@dataclass(frozen=True)
class Contrast:
    """Anchors against candidates: what is in each exponent, and which candidates are averaged."""

    gap: Tensor
    """S_ij - S_ii, how much nearer each candidate is than the positive, or S_ij alone, [B, M]; positives at (i, i)."""
    counted: Tensor
    """Which candidates are in the mean, [B, M]."""
    size: Tensor
    """What the sum over them is divided by, [B]."""

    def log_g(self, tau: Tensor | float) -> Tensor:
        """log of g_i = mean_j exp((S_ij - S_ii) / tau_i), [B]; one tau, or one for each anchor (row), [B]."""
        return torch.logsumexp(self._counted_logits(tau), dim=1) - self.size.to(self.gap.dtype).log()

    @torch.no_grad()
    def temperature_gradient(
        self, tau: Tensor | float, log_g: Tensor, log_u: Tensor, rho: float, log_divisor: Tensor | None = None
    ) -> Tensor:
        """G_i = log u_i + rho - sum_j w_ij (S_ij - S_ii) / tau_i, [B]: d/dtau of tau log u + tau rho.

        The weights are normalised by u, or by `log_divisor`, so they sum to g / u.
        """
        share = torch.softmax(self._counted_logits(tau), dim=1)
        pull = (log_g - (log_u if log_divisor is None else log_divisor)).exp()
        return log_u + rho - pull * (share * self._logits(tau)).sum(1)

    @torch.no_grad()
    def highest(self, tau: Tensor | float) -> Tensor:
        """The largest exponent of each anchor, its positive's included, [B]."""
        logits = self._logits(tau)
        return torch.maximum(logits.masked_fill(~self.counted, -math.inf).amax(1), logits.diagonal())

    def _logits(self, tau: Tensor | float) -> Tensor:
        return self.gap / (tau[:, None] if isinstance(tau, Tensor) and tau.dim() == 1 else tau)

    def _counted_logits(self, tau: Tensor | float) -> Tensor:
        return self._logits(tau).masked_fill(~self.counted, -math.inf)


def contrast(
    similarity: Tensor,
    within: Tensor | None = None,
    *,
    relative: bool = True,
    positive: bool = False,
    released_mean: bool = False,
) -> Contrast:
    """Row i's anchor against the columns j != i of `similarity`, whose positives are on the diagonal.

    One tower: `within` holds the anchors' similarities among themselves, whose columns j != i are candidates too.
    `relative`: exponents are S_ij - S_ii, not S_ij. `positive`: the mean is over the positive too; `released_mean`
    then divides by the number of negatives alone.
    """
    if len(similarity) < 2:
        raise ValueError("a batch of one has no negatives; a global contrastive objective needs two pairs or more.")
    others = ~torch.eye(len(similarity), dtype=torch.bool, device=similarity.device)
    negatives = others if within is None else torch.cat([others, others], dim=1)
    counted = others | positive if within is None else torch.cat([others | positive, others], dim=1)
    both = similarity if within is None else torch.cat([similarity, within], dim=1)
    gap = both - similarity.diagonal()[:, None] if relative else both
    return Contrast(gap, counted, (negatives if released_mean else counted).sum(1))


def surrogate(log_g: Tensor, log_u: Tensor, tau: Tensor | float) -> Tensor:
    """Mean over anchors of tau log g in value, with the estimator's gradient (tau / u) dg; summed over other dims.

    The gradient is that of the value only where u = g. g / u is at most 1 / gamma, so nothing overflows.
    """
    value, pull = tau * log_g, tau * (log_g.detach() - log_u).exp() * log_g
    return (value.detach() + pull - pull.detach()).mean(-1).sum()


class MovingAverage(nn.Module):
    """log u of every sample, -inf before its first visit; written in training only."""

    log_u: Tensor

    def __init__(self, num_samples: int, gamma: float, first_visit: FirstVisit = "g") -> None:
        super().__init__()
        self.first_visit = first_visit
        self.log_new = math.log(gamma)
        self.log_old = math.log1p(-gamma) if gamma < 1 else -math.inf
        self.register_buffer("log_u", torch.full((num_samples,), -math.inf, dtype=torch.float64))

    @torch.no_grad()
    def forward(self, log_g: Tensor, index: Tensor, epoch: int, in_turn: bool = False) -> Tensor:
        """log u of the samples after this step's K estimates, [K, B]; `log_g` is [K, B].

        The mean of the K estimates counts once, or each moves u in turn, and the next one reads what it left.
        """
        before = self.log_u[index]
        if in_turn:
            log_u = before[None]
            for estimate in log_g:
                log_u = torch.cat([log_u, self._mixed(log_u[-1], estimate, index, epoch)[None]])
            log_u = log_u[1:]
        else:
            log_mean = torch.logsumexp(log_g, dim=0) - math.log(len(log_g))
            log_u = self._mixed(before, log_mean, index, epoch).expand(log_g.shape)
        if self.training:
            self.log_u[index] = log_u[-1]
        return log_u.to(log_g.dtype)

    def _mixed(self, log_u: Tensor, log_g: Tensor, index: Tensor, epoch: int) -> Tensor:
        """log((1 - gamma) u + gamma g), or what the rule for first visits says; a sample met twice counts its mean."""
        same = index[:, None] == index
        log_g = torch.where(same, log_g.to(log_u.dtype), -math.inf).logsumexp(1) - same.sum(1).to(log_u.dtype).log()
        mixed = torch.logaddexp(self.log_old + log_u, self.log_new + log_g)
        if self.first_visit == "gamma-g":
            return mixed
        if self.first_visit == "first-epoch":
            return log_g if epoch == 0 else mixed
        return torch.where(torch.isneginf(log_u), log_g, mixed)
