import math
from typing import Any

import pytest
import torch
from global_batches import PARTS, SAMPLES, assert_close, batches, gradients
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch

NAME = "amclr-robust"
PAIRINGS = {
    side: [(a, c) for a in (side, f"{side}_view") for c in (other, f"{other}_view")]
    for side, other in (("image", "text"), ("text", "image"))
}


def make(name: str = NAME, **settings: Any) -> Method:
    return create_method(name, num_samples=SAMPLES, **settings)


class Naive:
    """Literal loops over samples and pairings, raw exponentials, state in dictionaries."""

    def __init__(self, method: Method) -> None:
        self.m = method
        self.u: dict[tuple[str, int], float] = {}
        self.tau: dict[tuple[str, int], float] = {}
        self.v: dict[tuple[str, int], float] = {}

    def step(self, batch: PairBatch) -> tuple[float, Tensor]:
        """The batch's objective, and a loss with the estimator's gradient."""
        m, size = self.m, batch.size
        unit = {p: [row / torch.sqrt((row * row).sum()) for row in getattr(batch, p)] for p in PARTS}
        value, pull = 0.0, torch.zeros((), dtype=torch.float64)
        for side, pairings in PAIRINGS.items():
            for i, sample in enumerate(batch.index.tolist()):
                key, others = (side, sample), [j for j in range(size) if j != i]
                tau = self.tau.get(key, m.tau)
                gaps = [[(unit[a][i] * (unit[c][j] - unit[c][i])).sum() for j in others] for a, c in pairings]
                g = [sum(math.exp(x.item() / tau) for x in gap) / len(gap) for gap in gaps]
                mean = sum(g) / len(g)
                u = self.u[key] = (1 - m.gamma) * self.u[key] + m.gamma * mean if key in self.u else mean
                slopes = []
                for each, gap in zip(g, gaps, strict=True):
                    weights = [math.exp(x.item() / tau) / u / len(gap) for x in gap]
                    pull = pull + sum(w * x for w, x in zip(weights, gap, strict=True)) / size
                    value += (tau * math.log(each) + tau * m.rho) / size
                    spread = sum(w * x.item() / tau for w, x in zip(weights, gap, strict=True))
                    slopes.append(math.log(u) + m.rho - spread)
                slope = max(-5.0, min(5.0, sum(slopes) / len(slopes)))
                self.v[key] = (1 - m.beta) * self.v.get(key, 0.0) + m.beta * slope
                self.tau[key] = max(m.tau_min, min(m.tau_max, tau - m.eta * self.v[key]))
        return value, pull


def test_matches_the_naive_twin() -> None:
    method = make(tau=0.1, tau_min=0.05, tau_max=0.5, eta=0.02, rho=1.0, gamma=0.6, beta=0.7)
    naive = Naive(method)
    for step, batch in enumerate(batches("views", 6)):
        loss = method(batch, Clock(step, 6))
        value, pull = naive.step(batch)
        assert loss.total.item() == pytest.approx(value, abs=1e-8)
        assert_close(gradients(loss.total, batch), gradients(pull, batch))
    state = method.state_dict()
    for (side, sample), tau in naive.tau.items():
        assert state[f"tau_{side}"][sample].item() == pytest.approx(tau, abs=1e-10)
        assert state[f"u.{side}.log_u"][sample].item() == pytest.approx(math.log(naive.u[side, sample]), abs=1e-8)
    assert len(set(naive.tau.values())) > 4


def test_an_option_of_one_tower_is_refused() -> None:
    with pytest.raises(UsageError, match="amclr-robust: u_per_view is for one tower"):
        make(u_per_view=True)
