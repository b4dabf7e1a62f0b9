"""SogCLR's estimator of a global contrastive objective: a moving average, for each sample, of its mean exponential.

An anchor's objective is tau log g_i, g_i = mean_j exp((S_ij - S_ii) / tau), the mean over the whole data set; a batch
gives a noisy g_i, and u_i <- (1 - gamma) u_i + gamma g_i remembers it. The gradient is tau / u_i times that of g_i.
Everything is kept as logarithms: exp((S_ij - S_ii) / tau) itself overflows float32 at tau = 0.01 and a gap of 0.9.
What released code does instead of that is `ReleasedEpsilon`.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from benchsuite.objectives.blocks import Block
from benchsuite.objectives.pairwise import Pairwise, by_rows, pairwise

FirstVisit: TypeAlias = Literal["g", "gamma-g", "first-epoch"]


class _Exponents(Pairwise):
    """S_ij - S_ii, how much nearer each candidate is than the positive, or S_ij alone, [B, M]; positives at (i, i)."""

    def __init__(self, similarity: Pairwise, within: Pairwise | None, relative: bool) -> None:
        rows, columns = similarity.shape
        super().__init__(rows, columns + (within.shape[1] if within else 0), similarity.dtype, similarity.device)
        self.similarity, self.within, self.relative = similarity, within, relative

    def entries(self, block: Block) -> Tensor:
        s = self.similarity.at(block)
        both = s if self.within is None else torch.cat([s, self.within.at(block)], dim=1)
        return both - self.similarity.positives_of(s, block)[:, None] if self.relative else both

    def matches(self) -> Tensor:
        own = self.similarity.matches()
        return own - own if self.relative else own


@dataclass(frozen=True)
class Contrast:
    """Anchors against candidates: what is in each exponent, and which candidates are averaged."""

    exponents: Pairwise
    """S_ij - S_ii, or S_ij alone, [B, M]; positives at (i, i)."""
    positive: bool
    """Whether the positive is in the mean, too."""
    size: Tensor
    """What the sum over the candidates in the mean is divided by, [B]."""

    def log_g(self, tau: Tensor | float) -> Tensor:
        """log of g_i = mean_j exp((S_ij - S_ii) / tau_i), [B]; one tau, or one for each anchor (row), [B]."""

        def each(block: Block) -> Tensor:
            return torch.logsumexp(self._counted(self._logits(tau, block), block), dim=1)

        return by_rows(each, self.exponents) - self.size.to(self.exponents.dtype).log()

    @torch.no_grad()
    def temperature_gradient(
        self, tau: Tensor | float, log_g: Tensor, log_u: Tensor, rho: float, log_divisor: Tensor | None = None
    ) -> Tensor:
        """G_i = log u_i + rho - sum_j w_ij (S_ij - S_ii) / tau_i, [B]: d/dtau of tau log u + tau rho.

        The weights are normalised by u, or by `log_divisor`, so they sum to g / u.
        """

        def each(block: Block) -> Tensor:
            logits = self._logits(tau, block)
            share = torch.softmax(self._counted(logits, block), dim=1)
            return (share * logits).sum(1)

        pull = (log_g - (log_u if log_divisor is None else log_divisor)).exp()
        return log_u + rho - pull * by_rows(each, self.exponents)

    @torch.no_grad()
    def highest(self, tau: Tensor | float) -> Tensor:
        """The largest exponent of each anchor, its positive's included, [B]."""

        def each(block: Block) -> Tensor:
            logits = self._logits(tau, block)
            own = self.exponents.positives_of(logits, block)
            return torch.maximum(self._counted(logits, block).amax(1), own)

        return by_rows(each, self.exponents)

    def _logits(self, tau: Tensor | float, block: Block) -> Tensor:
        each = isinstance(tau, Tensor) and tau.dim() == 1
        return self.exponents.at(block) / (block.of(tau)[:, None] if each else tau)  # type: ignore[arg-type]

    def _counted(self, logits: Tensor, block: Block) -> Tensor:
        """The exponents of candidates in the mean; -inf for the others."""
        anchors, columns = self.exponents.shape
        left_out = block.own(anchors, logits.device)
        if self.positive:
            left_out = torch.zeros_like(left_out)
        if columns > anchors:
            left_out = torch.cat([left_out, block.own(anchors, logits.device)], dim=1)
        return logits.masked_fill(left_out, -math.inf)


def contrast(
    similarity: Pairwise | Tensor,
    within: Pairwise | Tensor | None = None,
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
    anchors = len(similarity)
    if anchors < 2:
        raise ValueError("a batch of one has no negatives; a global contrastive objective needs two pairs or more.")
    size = (anchors - 1) * (1 if within is None else 2) + (positive and not released_mean)
    exponents = _Exponents(pairwise(similarity), None if within is None else pairwise(within), relative)
    return Contrast(exponents, positive, torch.full((anchors,), size, device=similarity.device))


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
        self.gamma, self.first_visit = gamma, first_visit
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
        log_g = Repeats(index).log_mean(log_g.to(log_u.dtype))
        log_old = math.log1p(-self.gamma) if self.gamma < 1 else -math.inf
        mixed = torch.logaddexp(log_old + log_u, math.log(self.gamma) + log_g)
        if self.first_visit == "gamma-g":
            return mixed
        if self.first_visit == "first-epoch":
            return log_g if epoch == 0 else mixed
        return torch.where(torch.isneginf(log_u), log_g, mixed)


Release: TypeAlias = Literal["none", "isogclr", "tempnet", "amclr"]
ADDED = {"isogclr": 1e-10, "amclr": 1e-8}
LEAST_SUM = 1e-14
"""TempNet's code adds nothing, but keeps the sum over candidates, not their mean, from falling below this."""


class ReleasedEpsilon(nn.Module):
    """What one release divides by; remembers the largest exponent of every sample, written in training only.

    Released code of the SogCLR family keeps s_i = u_i exp(-b_i), where b_i is the largest exponent that the sample ever
    had, and divides by s_i + epsilon. That is a division by u_i + epsilon exp(b_i), reproduced here without underflow.
    Early in a training candidates may be nearer than the positive, and b_i is large; later u_i falls far below
    epsilon exp(b_i), and the gradient vanishes.
    """

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


class Repeats:
    """Which places of a batch hold the same sample. Each of them is given what is computed over all of them."""

    def __init__(self, index: Tensor) -> None:
        self.place = torch.searchsorted(index.sort().values, index.contiguous())

    def mean(self, values: Tensor) -> Tensor:
        """The mean of each sample's values, [B]."""
        return self._sum(values) / self._sum(torch.ones_like(values))

    def largest(self, values: Tensor) -> Tensor:
        """The largest of each sample's values, [..., B]."""
        place = self.place.expand_as(values)
        return torch.empty_like(values).scatter_reduce(-1, place, values, "amax", include_self=False).gather(-1, place)

    def log_mean(self, log_values: Tensor) -> Tensor:
        """The logarithm of the mean of each sample's values, given and returned as logarithms, [B]."""
        largest = self.largest(log_values)
        largest = torch.where(largest.isinf(), 0.0, largest)
        counted = self._sum(torch.ones_like(log_values))
        return self._sum((log_values - largest).exp()).log() + largest - counted.log()

    def _sum(self, values: Tensor) -> Tensor:
        return torch.zeros_like(values).index_add(0, self.place, values)[self.place]
