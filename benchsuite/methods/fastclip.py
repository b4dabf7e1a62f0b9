"""FastCLIP: SogCLR with a gamma that falls, and a temperature that is fixed, one for each sample, or learned."""

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from benchsuite.fields import Count, NonNegative, Positive
from benchsuite.methods.base import Clock, Loss, ParameterGroup, clamp_
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.isogclr import ISogCLR, require_between
from benchsuite.methods.sogclr import OneOrTwoTowers
from benchsuite.objectives.schedules import cosine
from benchsuite.registry import register_method


@register_method(
    "fastclip",
    title="FastCLIP",
    paper="wei2024",
    defaults="the released script for v3 on CC3M",
    equation=r"\frac{\tau}{n}\sum_i [\log(\epsilon + g_{1,i}) + \log(\epsilon + g_{2,i})] + 2\rho\tau,\ "
    r"u_i \leftarrow (1-\gamma_t) u_i + \gamma_t g_i,\ "
    r"\gamma_t = \frac12 (1 + \cos(\pi t/E))(1 - \gamma) + \gamma",
    needs=("index",),
)
class FastCLIP(ISogCLR):
    """SogCLR's objective whose gamma falls from 1, with a temperature that is fixed, one for each sample, or learned.

    g_i = mean_{j != i} exp((S_ij - S_ii) / tau), one for each side. v1 (GCL): tau is constant, no rho. v2 (RGCL): sums
    tau_i (log(eps + g_i) + rho), tau_i of each sample and side moved as in `isogclr`. v3 (RGCL-g), above: one learned
    tau for both sides, whose gradient is mean_i [log(eps + u_1) + log(eps + u_2)] + 2 rho + tau / (eps + u) dg / dtau.
    The towers' gradient is tau / (eps + u_i) dg_i. gamma_t is gamma after E epochs; the paper takes half of all.

    Defaults are those of the released script for v3 on CC3M. Its script for v2 has tau 0.03 and rho 7. Deviations of
    that code: it learns -log tau (`learned="log-scale"`); halves the loss; moves v2's tau_i by a form of Adam in steps
    of 0.0133; and divides v3's temperature rate by 3 below 0.03. In v3 the halved gradient of tau has all of its spread
    term, tau / (eps + u) dg / dtau, where half of the paper's has half. v2's loss is never multiplied by tau_i, so that
    a sample's part of the towers' gradient is 1 / tau_i of the equation's; v1's is multiplied by tau only under its
    flag `multiply_tau`. Only the first is an option: the optimizer here is the run's, at `lr_factor` of its rate,
    without decay. That v2 is iSogCLR but for gamma is what its README says.

    Traps: the total is a surrogate, as for sogclr; `gamma` is where the schedule ends. By default it falls at every
    step, as a run may be shorter than an epoch; with `decay_epochs` once an epoch, as in the paper.
    """

    version: Literal["v1", "v2", "v3"] = "v3"
    """Constant temperature, one for each sample and side, or one learned."""
    tau = 0.07
    gamma = 0.2
    decay_epochs: Count | None = None
    """E: epochs until gamma_t reaches gamma, changed once an epoch; by default half of the training, at every step."""
    eps: Positive = 1e-14
    """Added to g and u."""
    rho = 6.5
    tau_min = 0.01
    tau_max = 1.0
    learned: Literal["temperature", "log-scale"] = "temperature"
    """v3: what is learned, tau, or -log tau as released."""
    lr_factor: NonNegative = 0.2
    """v3: the temperature's learning rate, as a share of the run's; 2e-4 of 1e-3 as released."""

    def setup(self) -> None:
        if self.version == "v2":
            super().setup()
        else:
            OneOrTwoTowers.setup(self)
            require_between(self, self.tau_min, self.tau, self.tau_max)
        if self.u_per_view or self.released_epsilon != "none":
            raise self.refuse("u_per_view and released_epsilon are other code's; it trains pairs and has eps.")
        if self.version == "v3":
            self.parameter = nn.Parameter(torch.tensor(-math.log(self.tau) if self.in_logs else self.tau))

    @property
    def in_logs(self) -> bool:
        """Whether the parameter is -log tau."""
        return self.learned == "log-scale"

    def temperature_of(self, side: str, batch: PairBatch) -> Tensor:
        """v1: a constant. v2: each sample's before this step, [B]. v3: the one learned."""
        if self.version == "v2":
            return self.get_buffer(f"tau_{side}")[batch.index].to(batch.image.dtype)
        if self.version == "v1":
            return batch.image.new_tensor(self.tau)
        assert self.temperature is not None
        return self.temperature.to(batch.image.dtype)

    @property
    def temperature(self) -> Tensor | None:
        """v3: the one that is learned."""
        if self.version != "v3":
            return None
        return torch.exp(-self.parameter) if self.in_logs else self.parameter

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        share = 2 * clock.progress if self.decay_epochs is None else clock.epoch / self.decay_epochs
        gamma = cosine(1.0, self.gamma, 0.5 * min(1.0, share))
        rho = 0.0 if self.version == "v1" else self.rho
        terms: dict[str, Tensor] = {}
        gauges: dict[str, float | Tensor] = {"gamma": gamma}
        objective = torch.zeros(())
        for term, side, (contrast,) in self.sides(batch):
            tau = self.temperature_of(side, batch)
            log_g = contrast.log_g(tau)
            average: Any = self.u[side]
            average.gamma = gamma
            log_u = self.plus_eps(average(log_g[None], batch.index, clock.epoch)[0])
            value = tau * (self.plus_eps(log_g) + rho)
            pull = tau.detach() * (log_g.detach() - log_u).exp() * log_g + tau * (log_u + rho)
            terms[term] = (value.detach() + pull - pull.detach()).mean()
            objective = objective + (tau.detach() * (log_u + rho)).mean()
            gauges[f"temperature_{side}" if self.version == "v2" else "temperature"] = tau.detach().mean()
            if self.version == "v2" and self.training:
                slope = contrast.temperature_gradient(tau, log_g, log_u, rho)
                self.move_temperatures(side, slope, batch.index)
        return Loss(torch.stack([*terms.values()]).sum(), terms, {**gauges, "objective": objective})

    def plus_eps(self, log: Tensor) -> Tensor:
        """log(eps + x) of log x."""
        return torch.logaddexp(log, log.new_tensor(math.log(self.eps)))

    def parameter_groups(self) -> list[ParameterGroup]:
        if self.version != "v3":
            return []
        return [ParameterGroup((self.parameter,), weight_decay=0.0, lr_factor=self.lr_factor)]

    def after_step(self) -> None:
        if self.version == "v3":
            low, high = self.tau_min, self.tau_max
            clamp_(self.parameter, *((-math.log(high), -math.log(low)) if self.in_logs else (low, high)))
