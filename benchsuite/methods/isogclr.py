"""iSogCLR: SogCLR with a temperature for each sample, and the form that weighs the positives robustly, too."""

import math
from typing import Annotated, ClassVar

import torch
from annotated_types import Ge
from torch import Tensor

from benchsuite.fields import Finite, Real, Share, Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.sogclr import OneOrTwoTowers, spread
from benchsuite.objectives.global_estimator import MovingAverage, Repeats, surrogate
from benchsuite.registry import register_method

TemperatureStep = Annotated[float, Ge(0), Finite, "temperature"]


@register_method(
    "isogclr",
    title="iSogCLR",
    paper="qiu2023",
    equation=r"\sum_i \min_{\tau_i} \tau_i \log \mathrm{mean}_{j \neq i} e^{(S_{ij} - S_{ii})/\tau_i} + \tau_i \rho",
    needs=("index",),
    serves=("pair", "image", "text"),
    acts=({"statement": "Samples have temperatures of their own", "gauge": "temperature_spread", "at_least": 0.05},),
    contains={"sogclr": {"eta": 0, "rho": 0, "tau_min": "tau", "tau_max": "tau"}},
)
class ISogCLR(OneOrTwoTowers):
    """SogCLR with a temperature for each sample and side, learned by a robust objective (Qiu et al., Algorithm 1).

    tau_i minimises tau log g_i + tau rho in [tau_min, tau_max]. Its gradient is G_i = log u_i + rho - sum_j w_ij
    (S_ij - S_ii) / tau_i, weights normalised by u_i; then v_i <- (1 - beta) v_i + beta clip(G_i, +-5) and tau_i <-
    clamp(tau_i - eta v_i). The step's loss uses the temperature from before it. v starts at 0.

    Traps: beta weighs the NEW gradient, as in the paper and all released code. In the default, narrow range the
    temperatures swing between the bounds; one release goes up to tau_max = 1. Temperatures divide rows. The total is a
    surrogate, as for sogclr.

    Variant "AmCLR's runs": rho 8, eta 1e-5, beta 0.5, first_visit "first-epoch", released_epsilon "tempnet". The logs
    of AmCLR's public code have the numbers of its rows "iSogCLR w Temp Generator", and this is what ran: the generator
    was an empty stub.
    """

    clip: ClassVar[float] = 5.0
    """Bound on the size of G."""

    rho: Real = 6.0
    """Pull towards small temperatures: the size of the robust set."""
    eta: TemperatureStep = 0.03
    """Step of the temperatures; in units of temperature, so a recipe's factor scales it too."""
    beta: Share = 0.9
    """Weight of the newest temperature gradient in its moving average."""
    tau_min: Temperature = 0.005
    """Lowest temperature of a sample."""
    tau_max: Temperature = 0.05
    """Highest temperature of a sample."""

    def setup(self) -> None:
        super().setup()
        require_between(self, self.tau_min, self.tau, self.tau_max)
        for side in ("image", "text"):
            tau = torch.full((self.num_samples or 0,), self.tau, dtype=torch.float64)
            self.register_buffer(f"tau_{side}", tau)
            self.register_buffer(f"v_{side}", torch.zeros_like(tau))

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        terms: dict[str, Tensor] = {}
        gauges: dict[str, Tensor] = {"objective": torch.zeros(())}
        spreads = []
        for term, side, contrasts in self.sides(batch):
            tau = self.get_buffer(f"tau_{side}")[batch.index].to(contrasts[0].exponents.dtype)  # [B], before this step
            names = self.states(side, contrasts)
            log_g, log_u, divisor = self.estimate(names, contrasts, tau, batch.index, clock.epoch)
            penalty = len(contrasts) * self.rho * tau.mean()
            terms[term] = surrogate(log_g, divisor, tau) + penalty
            gauges["objective"] = gauges["objective"] + (tau * log_u).mean(1).sum() + penalty
            gauges[f"temperature_{side}"] = tau.mean()
            spreads.append(spread(tau))
            if self.training:
                estimates = zip(contrasts, log_g, log_u, divisor, strict=True)
                slopes = [c.temperature_gradient(tau, g, u, self.rho, d) for c, g, u, d in estimates]
                self.move_temperatures(side, torch.stack(slopes).mean(0), batch.index)
        gauges["temperature_spread"] = torch.stack(spreads).mean()
        return Loss(torch.stack([*terms.values()]).sum(), terms, gauges)

    @torch.no_grad()
    def move_temperatures(self, side: str, slope: Tensor, index: Tensor) -> None:
        """One step of the samples' temperatures along G; a sample met twice moves once, by its mean."""
        tau, v = self.get_buffer(f"tau_{side}"), self.get_buffer(f"v_{side}")
        clipped = Repeats(index).mean(slope.clamp(-self.clip, self.clip).to(tau.dtype))
        v[index] = (1 - self.beta) * v[index] + self.beta * clipped
        tau[index] = (tau[index] - self.eta * v[index]).clamp(self.tau_min, self.tau_max)


@register_method(
    "isogclr-robust",
    title="iSogCLR Regularized",
    paper="amclr",
    equation=r"\sum_i \tau_i \log \mathrm{mean}_{j \neq i} e^{S_{ij}/\tau_i} + \tau_i \rho"
    r"\ +\ \lambda \log \mathrm{mean}_i e^{-2 S_{ii}/\lambda}",
    needs=("index",),
    serves=("pair", "image", "text"),
    acts=({"statement": "Samples have temperatures of their own", "gauge": "temperature_spread", "at_least": 0.05},),
)
class ISogCLRRobust(ISogCLR):
    """iSogCLR whose positives are weighed robustly, too: pairs that are far apart pull hardest.

    Negatives, for each side: iSogCLR with S_ij alone in the exponents and G_i not clipped. Positives: lambda log mean_i
    exp(-2 S_ii / lambda), whose gradient is -2 mean_i w_i dS_ii with w_i = exp(-2 S_ii / lambda) / r and r the moving
    average of the batch's mean exponential. Large lambda: all w_i = 1, and the positive counts as in `isogclr`.
    One tower: both views' negatives, and the same term for the positives.

    AmCLR (section 5) says only that this version of iSogCLR "introduces a regularization term to control the loss from
    positive pairs". The equation and the defaults are those of its public code, whose logs have the numbers of its rows
    "iSogCLR Regularized" (there isogclr_new_v2, with released_epsilon "amclr"). lambda stays at 1 there.

    Traps: the total is a surrogate, as for sogclr. iSogCLR's rho is not this regularization: it holds temperatures
    down and leaves positives alone.
    """

    relative: ClassVar = False
    clip: ClassVar = math.inf

    tau: Temperature = 0.07
    """Where the temperatures start."""
    first_visit = "first-epoch"
    eta = 0.01
    tau_max = 1.0
    positive_lambda: Temperature = 1.0
    """lambda: the temperature of the positives' weights."""

    def setup(self) -> None:
        super().setup()
        self.r = MovingAverage(1, self.gamma, self.first_visit)

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        negatives = super().loss(batch, clock)
        x, y = (batch.image, batch.text) if batch.is_pair else batch.views
        exponent = -2 * (x * y).sum(1) / self.positive_lambda
        log_mean = torch.logsumexp(exponent, dim=0, keepdim=True) - math.log(batch.size)  # [1]
        log_r = self.r(log_mean[None], torch.zeros(1, dtype=torch.long, device=x.device), clock.epoch)  # [1, 1]
        positives = surrogate(log_mean[None], log_r, self.positive_lambda)
        objective = torch.as_tensor(negatives.gauges["objective"]) + self.positive_lambda * log_r.sum()
        terms = {**negatives.terms, "positives": positives}
        return Loss(negatives.total + positives, terms, {**negatives.gauges, "objective": objective})


def require_between(method: Method, low: float, start: float, high: float) -> None:
    """Refuse a range of temperatures that is empty or leaves out their start."""
    if not low <= start <= high:
        raise method.refuse(f"tau {start}, where temperatures start, is not between tau_min {low} and tau_max {high}.")
