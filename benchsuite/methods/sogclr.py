"""SogCLR and iSogCLR: global contrastive objectives from small batches, with a memory for each sample."""

import math
from collections.abc import Iterator
from typing import Annotated, Literal, cast

import torch
from annotated_types import Ge
from torch import Tensor, nn

from benchsuite.fields import Count, Finite, NonNegative, Positive, Real, Share, Temperature
from benchsuite.methods.base import Clock, Loss, Method, PairBatch, ParameterGroup
from benchsuite.objectives.global_estimator import (
    Contrast,
    MovingAverage,
    across,
    across_and_within,
    surrogate,
)
from benchsuite.registry import register_method

TemperatureStep = Annotated[float, Ge(0), Finite, "temperature"]
GRADIENT_CLIP = 5.0


class GlobalMethod(Method):
    """What the family shares: the estimator's options, and the anchors of a batch."""

    tau: Temperature = 0.01
    """The temperature."""
    gamma: Share = 0.8
    """Weight of the newest estimate in the moving average."""
    first_visit: Literal["g", "gamma-g", "first-epoch"] = "g"
    """A sample's first u: g; gamma g, as if u began at 0; or u = g through the whole first epoch (released code)."""
    positive_in_denominator: bool = False
    """Average over all j, the positive too, as one released code base does; the papers leave it out."""

    def setup(self) -> None:
        if self.gamma == 0:
            raise self.refuse("gamma 0.0 would never let the moving average move; it must be above 0.")
        if self.num_samples is None:
            raise self.refuse("it remembers each sample, so it needs num_samples, the size of the training set.")

    def remember(self, *names: str) -> None:
        """Keep a moving average over all samples under each name."""
        samples = self.num_samples or 0
        self.u = nn.ModuleDict({name: MovingAverage(samples, self.gamma, self.first_visit) for name in names})

    def average(self, name: str) -> MovingAverage:
        """The moving average kept under a name."""
        return cast(MovingAverage, self.u[name])

    def sides(self, batch: PairBatch) -> Iterator[tuple[str, str, list[Contrast]]]:
        """(term, whose state, contrasts): both directions of a pair; or of one tower, both views share a state."""
        if batch.is_pair:
            similarity = batch.image @ batch.text.T
            yield "i2t", "image", [across(similarity, self.positive_in_denominator)]
            yield "t2i", "text", [across(similarity.T, self.positive_in_denominator)]
        else:
            yield (
                "views",
                "image" if batch.has("image") else "text",
                [
                    across_and_within(a @ b.T, a @ a.T, self.positive_in_denominator)
                    for a, b in (batch.views, batch.views[::-1])
                ],
            )


@register_method(
    "sogclr",
    title="SogCLR",
    paper="yuan2022",
    equation=r"\sum_i \tau \log \mathrm{mean}_{j \neq i} e^{(S_{ij} - S_{ii})/\tau},\ "
    r"u_i \leftarrow (1-\gamma) u_i + \gamma g_i",
    needs=("index",),
    serves=("pair", "image", "text"),
)
class SogCLR(GlobalMethod):
    """A contrastive loss over the whole data set, estimated from small batches by a memory for each sample.

    F = mean_i tau log mean_{j != i} exp((S_ij - S_ii) / tau), both directions summed, the mean over all data. A batch
    gives g_i; u_i <- (1 - gamma) u_i + gamma g_i is kept for each sample and side, and the gradient is (tau / u_i) dg_i
    (Yuan et al., Section 4; AmCLR Eqs. 5-8). One tower: the two views of a sample anchor in turn, 2 (B - 1) negatives,
    and share one u_i, moved by the mean of both.

    Traps: the total is a surrogate. Its value is the batch's own objective, its gradient that of the estimator, and the
    two belong together only at gamma = 1 or on first visits. The gauge "objective" is tau log u, the estimate of the
    global one. Released code prints sum w (S_ij - S_ii) instead: compare gradients, not values.
    """

    loss_scale: Positive = 1.0
    """A factor on the loss. Released versions differ by 1/tau, 2 or (B-1)/2; under Adam that changes nothing."""

    def setup(self) -> None:
        super().setup()
        self.remember("image", "text")

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        terms: dict[str, Tensor] = {}
        objective = torch.zeros(())
        for term, side, contrasts in self.sides(batch):
            log_g = torch.stack([c.log_g(self.tau) for c in contrasts])  # [K, B]
            log_u = self.average(side)(log_g, batch.index, clock.epoch)
            terms[term] = self.loss_scale * surrogate(log_g, log_u, self.tau)
            objective = objective + len(contrasts) * self.tau * log_u.mean()
        return Loss(torch.stack([*terms.values()]).sum(), terms, {"objective": objective})


@register_method(
    "isogclr",
    title="iSogCLR",
    paper="qiu2023",
    equation=r"\sum_i \min_{\tau_i} \tau_i \log \mathrm{mean}_{j \neq i} e^{(S_{ij} - S_{ii})/\tau_i} + \tau_i \rho",
    needs=("index",),
    serves=("pair", "image", "text"),
)
class ISogCLR(GlobalMethod):
    """SogCLR with a temperature for each sample and side, learned by a robust objective (Qiu et al., Algorithm 1).

    tau_i minimises tau log g_i + tau rho in [tau_min, tau_max]. Its gradient is G_i = log u_i + rho - sum_j w_ij
    (S_ij - S_ii) / tau_i, weights normalised by u_i; then v_i <- (1 - beta) v_i + beta clip(G_i, +-5) and tau_i <-
    clamp(tau_i - eta v_i). The step's loss uses the temperature from before it. v starts at 0.

    Traps: beta weighs the NEW gradient, as in the paper and all released code. In the default, narrow range the
    temperatures swing between the bounds; one release goes up to tau_max = 1. Temperatures divide rows.
    """

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
        self.remember("image", "text")
        for side in ("image", "text"):
            tau = torch.full((self.num_samples or 0,), self.tau, dtype=torch.float64)
            self.register_buffer(f"tau_{side}", tau)
            self.register_buffer(f"v_{side}", torch.zeros_like(tau))

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        terms: dict[str, Tensor] = {}
        gauges: dict[str, Tensor] = {"objective": torch.zeros(())}
        for term, side, contrasts in self.sides(batch):
            tau = self.get_buffer(f"tau_{side}")[batch.index].to(contrasts[0].gap.dtype)  # [B], before this step
            log_g = torch.stack([c.log_g(tau) for c in contrasts])
            log_u = self.average(side)(log_g, batch.index, clock.epoch)
            penalty = len(contrasts) * self.rho * tau.mean()
            terms[term] = surrogate(log_g, log_u, tau) + penalty
            gauges["objective"] = gauges["objective"] + len(contrasts) * (tau * log_u).mean() + penalty
            gauges[f"temperature_{side}"] = tau.mean()
            if self.training:
                slopes = [
                    c.temperature_gradient(tau, g, log_u, self.rho) for c, g in zip(contrasts, log_g, strict=True)
                ]
                self.move_temperatures(side, torch.stack(slopes).mean(0), batch.index)
        return Loss(torch.stack([*terms.values()]).sum(), terms, gauges)

    @torch.no_grad()
    def move_temperatures(self, side: str, slope: Tensor, index: Tensor) -> None:
        """One step of the samples' temperatures along G; a sample met twice moves once, by its mean."""
        tau, v = self.get_buffer(f"tau_{side}"), self.get_buffer(f"v_{side}")
        same = (index[:, None] == index).to(tau.dtype)
        clipped = (same @ slope.clamp(-GRADIENT_CLIP, GRADIENT_CLIP).to(tau.dtype)) / same.sum(1)
        v[index] = (1 - self.beta) * v[index] + self.beta * clipped
        tau[index] = (tau[index] - self.eta * v[index]).clamp(self.tau_min, self.tau_max)


@register_method(
    "isogclr-tempnet",
    title="iSogCLR with a temperature generator",
    paper="qiu2024",
    equation=r"\tau_i = \tau_{min} + (\tau_{max} - \tau_{min})\,\sigma(f(x_i))",
    needs=("index",),
)
class ISogCLRTempNet(GlobalMethod):
    """iSogCLR whose temperatures come from a small network over the embedding ("w Temp Generator" in AmCLR's tables).

    tau_i = tau_min + (tau_max - tau_min) sigmoid(f(x_i)), x_i detached, one network a side: linear, sigmoid, linear.
    The networks learn by mean_i G_i tau_i with iSogCLR's G_i, detached and not clipped; the towers' loss takes tau_i
    as given. All temperatures start at tau, or 1 % of the range inside of a bound: the sigmoid ends there.

    The original trains the networks with an AdamW of their own at a constant 3e-5; here they are a group of the run's
    optimizer and follow its schedule at `lr_factor` of its rate: 0.15 of 2e-4.
    """

    rho: Real = 6.0
    """Pull towards small temperatures: the size of the robust set."""
    tau_min: Temperature = 0.005
    """Lowest temperature."""
    tau_max: Temperature = 0.05
    """Highest temperature."""
    hidden: Count = 256
    """Width of the networks' hidden layer."""
    lr_factor: NonNegative = 0.15
    """The networks' learning rate, as a share of the run's."""

    def setup(self) -> None:
        super().setup()
        require_between(self, self.tau_min, self.tau, self.tau_max)
        self.remember("image", "text")
        width = self.tau_max - self.tau_min
        share = min(max((self.tau - self.tau_min) / width, 0.01), 0.99) if width else 0.5
        self.networks = nn.ModuleDict({side: self.network(math.log(share / (1 - share))) for side in ("image", "text")})

    def network(self, start: float) -> nn.Sequential:
        """A network that says `start` whatever it is given, until it is trained."""
        first = nn.LazyLinear(self.hidden) if self.width is None else nn.Linear(self.width, self.hidden)
        last = nn.Linear(self.hidden, 1)
        nn.init.zeros_(last.weight)
        nn.init.constant_(last.bias, start)
        return nn.Sequential(first, nn.Sigmoid(), last)

    def temperature(self, side: str, embedding: Tensor) -> Tensor:
        """Each sample's predicted temperature, [B]."""
        network = self.networks[side]
        logit = network(embedding.detach().to(next(network.parameters()).dtype)).squeeze(1).to(embedding.dtype)
        return self.tau_min + (self.tau_max - self.tau_min) * torch.sigmoid(logit)

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        terms: dict[str, Tensor] = {}
        gauges: dict[str, Tensor] = {"objective": torch.zeros(())}
        for term, side, (contrast,) in self.sides(batch):
            predicted = self.temperature(side, batch.image if side == "image" else batch.text)
            tau = predicted.detach()
            log_g = contrast.log_g(tau)
            log_u = self.average(side)(log_g[None], batch.index, clock.epoch)
            slope = contrast.temperature_gradient(tau, log_g, log_u, self.rho)
            terms[term] = surrogate(log_g, log_u, tau) + self.rho * tau.mean()
            terms[f"{term}_temperature"] = (slope * predicted).mean()
            gauges["objective"] = gauges["objective"] + (tau * (log_u + self.rho)).mean()
            gauges[f"temperature_{side}"] = tau.mean()
        return Loss(torch.stack([*terms.values()]).sum(), terms, gauges)

    def parameter_groups(self) -> list[ParameterGroup]:
        return [ParameterGroup(tuple(self.networks.parameters()), lr_factor=self.lr_factor)]


def require_between(method: Method, low: float, start: float, high: float) -> None:
    """Refuse a range of temperatures that is empty or leaves out their start."""
    if not low <= start <= high:
        raise method.refuse(f"tau {start}, where temperatures start, is not between tau_min {low} and tau_max {high}.")
