"""SogCLR's estimator of a global contrastive objective: a moving average, for each sample, of its mean exponential.

An anchor's objective is tau log g_i, g_i = mean_j exp((S_ij - S_ii) / tau), the mean over the whole data set; a batch
gives a noisy g_i, and u_i <- (1 - gamma) u_i + gamma g_i remembers it. The gradient is tau / u_i times that of g_i.
Everything is kept as logarithms: exp((S_ij - S_ii) / tau) itself overflows float32 at tau = 0.01 and a gap of 0.9.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

FirstVisit: TypeAlias = Literal["g", "gamma-g", "first-epoch"]


@dataclass(frozen=True)
class Contrast:
    """Anchors against candidates: how much nearer each candidate is than the positive, and which are averaged."""

    gap: Tensor
    """S_ij - S_ii, [B, M]."""
    counted: Tensor
    """Which candidates are in the mean, [B, M]."""

    def log_g(self, tau: Tensor | float) -> Tensor:
        """log of g_i = mean_j exp((S_ij - S_ii) / tau_i), [B]; one tau, or one for each anchor (row), [B]."""
        return torch.logsumexp(self._counted_logits(tau), dim=1) - self.counted.sum(1).to(self.gap.dtype).log()

    @torch.no_grad()
    def temperature_gradient(self, tau: Tensor | float, log_g: Tensor, log_u: Tensor, rho: float) -> Tensor:
        """G_i = log u_i + rho - sum_j w_ij (S_ij - S_ii) / tau_i, [B]: d/dtau of tau log u + tau rho.

        The weights are normalised by u, so they sum to g / u.
        """
        share = torch.softmax(self._counted_logits(tau), dim=1)
        return log_u + rho - (log_g - log_u).exp() * (share * self._logits(tau)).sum(1)

    def _logits(self, tau: Tensor | float) -> Tensor:
        return self.gap / (tau[:, None] if isinstance(tau, Tensor) and tau.dim() == 1 else tau)

    def _counted_logits(self, tau: Tensor | float) -> Tensor:
        return self._logits(tau).masked_fill(~self.counted, -math.inf)


def across(similarity: Tensor, positive_in_denominator: bool = False) -> Contrast:
    """Row i's anchor against the columns j != i; `positive_in_denominator` averages over all columns."""
    counted = _all_but_diagonal(similarity)
    return Contrast(similarity - similarity.diagonal()[:, None], counted | positive_in_denominator)


def across_and_within(similarity: Tensor, own: Tensor, positive_in_denominator: bool = False) -> Contrast:
    """One tower: anchors of one view against the 2 (B - 1) other samples' in the other view and in their own.

    `similarity` is that to the other view, with the positives on its diagonal; `own` that among the anchors.
    """
    counted = _all_but_diagonal(similarity)
    gap = torch.cat([similarity, own], dim=1) - similarity.diagonal()[:, None]
    return Contrast(gap, torch.cat([counted | positive_in_denominator, counted], dim=1))


def surrogate(log_g: Tensor, log_u: Tensor, tau: Tensor | float) -> Tensor:
    """Mean over anchors of tau log g in value, with the estimator's gradient (tau / u) dg; summed over other dims.

    g / u is at most 1 / gamma, so nothing overflows.
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
    def forward(self, log_g: Tensor, index: Tensor, epoch: int) -> Tensor:
        """log u of the samples after this step, [B]; `log_g` is [K, B], and the mean of its K estimates counts once."""
        log_mean = torch.logsumexp(log_g, dim=0) - math.log(len(log_g))
        log_u = self.mixed(self.log_u[index], log_mean, index, epoch)
        self.write(log_u, index)
        return log_u.to(log_g.dtype)

    @torch.no_grad()
    def mixed(self, log_u: Tensor, log_g: Tensor, index: Tensor, epoch: int) -> Tensor:
        """log((1 - gamma) u + gamma g), or what the rule for first visits says; a sample met twice counts its mean."""
        same = index[:, None] == index
        log_g = torch.where(same, log_g.to(log_u.dtype), -math.inf).logsumexp(1) - same.sum(1).to(log_u.dtype).log()
        mixed = torch.logaddexp(self.log_old + log_u, self.log_new + log_g)
        if self.first_visit == "gamma-g":
            return mixed
        fresh = torch.isneginf(log_u) | (self.first_visit == "first-epoch" and epoch == 0)
        return torch.where(fresh, log_g, mixed)

    @torch.no_grad()
    def write(self, log_u: Tensor, index: Tensor) -> None:
        """Remember the samples' log u, in training."""
        if self.training:
            self.log_u[index] = log_u


def _all_but_diagonal(similarity: Tensor) -> Tensor:
    if len(similarity) < 2:
        raise ValueError("a batch of one has no negatives; a global contrastive objective needs two pairs or more.")
    return ~torch.eye(len(similarity), dtype=torch.bool, device=similarity.device)
