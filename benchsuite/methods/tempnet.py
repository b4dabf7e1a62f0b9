"""iSogCLR with a temperature generator: temperatures from a small network over the embedding."""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from benchsuite.fields import Count, NonNegative, Real, Temperature
from benchsuite.methods.base import Clock, Loss, ParameterGroup
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.isogclr import require_between
from benchsuite.methods.sogclr import GlobalMethod, spread
from benchsuite.objectives.global_estimator import surrogate
from benchsuite.registry import register_method

PROTOTYPES, POOLING, DROPOUT = 256, 0.01, 0.5


@register_method(
    "isogclr-tempnet",
    title="iSogCLR with a temperature generator",
    paper="qiu2024",
    equation=r"\tau_i = \tau_{min} + (\tau_{max} - \tau_{min})\,\sigma(f(x_i))",
    needs=("index",),
    acts=({"statement": "Samples have temperatures of their own", "gauge": "temperature_spread", "at_least": 0.05},),
)
class ISogCLRTempNet(GlobalMethod):
    """iSogCLR whose temperatures come from a small network over the embedding ("w Temp Generator" in AmCLR's tables).

    tau_i = tau_min + (tau_max - tau_min) sigmoid(f(x_i)), x_i detached, one network a side. The networks learn by
    mean_i G_i tau_i with iSogCLR's G_i, detached and not clipped; the towers' loss takes tau_i as given.

    `generator` "mlp" is linear, sigmoid, linear; all temperatures start at tau, or 1 % of the range inside of a bound:
    the sigmoid ends there. "prototypes" is TempNet's own network: linear, sigmoid, dropout 0.5, then a softmax at 0.01
    pools the inner products with 256 normalised prototypes. It starts near the middle of the range (0.031 of 0.005 to
    0.05), wherever tau is.

    TempNet's code trains the networks with plain Adam at 3e-5 * 0.9^epoch, without weight decay. Here they are a group
    of the run's optimizer, without decay: AdamW without decay is Adam. Its rate is `lr_factor` of the run's, 0.15 of
    2e-4, and follows the run's schedule and not 0.9^epoch. AmCLR names no network; in its public code the generator is
    an empty stub, and what ran for its rows is a variant of `isogclr`.

    Trap: the total is a surrogate, as for sogclr, and mean_i G_i tau_i is in it too: read the gauge "objective".
    """

    rho: Real = 6.0
    """Pull towards small temperatures: the size of the robust set."""
    tau_min: Temperature = 0.005
    """Lowest temperature."""
    tau_max: Temperature = 0.05
    """Highest temperature."""
    generator: Literal["mlp", "prototypes"] = "mlp"
    """The networks: linear, sigmoid, linear; or TempNet's own, with prototypes."""
    hidden: Count = 256
    """Width of the networks' hidden layer; TempNet's is as wide as the embeddings, 256."""
    lr_factor: NonNegative = 0.15
    """The networks' learning rate, as a share of the run's."""

    def setup(self) -> None:
        super().setup()
        require_between(self, self.tau_min, self.tau, self.tau_max)
        self.remember("image", "text")
        width = self.tau_max - self.tau_min
        share = min(max((self.tau - self.tau_min) / width, 0.01), 0.99) if width else 0.5
        start = math.log(share / (1 - share))
        self.networks = nn.ModuleDict({side: self.network(start) for side in ("image", "text")})

    def network(self, start: float) -> nn.Sequential:
        """A network over embeddings; an "mlp" says `start` whatever it is given, until it is trained."""
        first = nn.LazyLinear(self.hidden) if self.width is None else nn.Linear(self.width, self.hidden)
        if self.generator == "prototypes":
            return nn.Sequential(first, nn.Sigmoid(), nn.Dropout(DROPOUT), PrototypePooling(self.hidden))
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
        spreads = []
        for term, side, contrasts in self.sides(batch):
            predicted = self.temperature(side, batch.image if side == "image" else batch.text)
            tau = predicted.detach()
            log_g, log_u, divisor = (row[0] for row in self.estimate([side], contrasts, tau, batch.index, clock.epoch))
            slope = contrasts[0].temperature_gradient(tau, log_g, log_u, self.rho, divisor)
            terms[term] = surrogate(log_g, divisor, tau) + self.rho * tau.mean()
            terms[f"{term}_temperature"] = (slope * predicted).mean()
            gauges["objective"] = gauges["objective"] + (tau * (log_u + self.rho)).mean()
            gauges[f"temperature_{side}"] = tau.mean()
            spreads.append(spread(tau))
        gauges["temperature_spread"] = torch.stack(spreads).mean()
        return Loss(torch.stack([*terms.values()]).sum(), terms, gauges)

    def parameter_groups(self) -> list[ParameterGroup]:
        return [ParameterGroup(tuple(self.networks.parameters()), weight_decay=0.0, lr_factor=self.lr_factor)]


class PrototypePooling(nn.Module):
    """TempNet's last layers: inner products with normalised prototypes, pooled by their own softmax into one logit."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.prototypes = nn.Parameter(torch.randn(PROTOTYPES, width))
        self.log_pooling = nn.Parameter(torch.tensor(math.log(POOLING)))
        self.last = nn.Linear(PROTOTYPES, 1)
        nn.init.ones_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: Tensor) -> Tensor:
        products = x @ normalize(self.prototypes, dim=1).T
        share = torch.softmax(products / self.log_pooling.exp(), dim=1)
        logit: Tensor = self.last((share - 1 / PROTOTYPES) * torch.sigmoid(products))
        return logit
