import math
from typing import Any

import pytest
import torch
from global_batches import NOW, SAMPLES, assert_close, batches, gradients
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch

NAME = "isogclr-robust"
TOWERS = ["pair", "image", "text"]


def make(**settings: Any) -> Method:
    return create_method(NAME, num_samples=SAMPLES, **settings)


def cosines(batch: PairBatch) -> tuple[list[Tensor], dict[str, list[list[list[Tensor]]]]]:
    """Each positive's cosine, and for each side, contrast and anchor those of its negatives."""
    x, y = (batch.image, batch.text) if batch.is_pair else batch.views
    x, y = ([row / torch.sqrt((row * row).sum()) for row in side] for side in (x, y))

    def negatives(anchors: list[Tensor], *kinds: list[Tensor]) -> list[list[Tensor]]:
        return [[(a * k[j]).sum() for k in kinds for j in range(len(k)) if j != i] for i, a in enumerate(anchors)]

    positives = [(a * b).sum() for a, b in zip(x, y, strict=True)]
    if batch.is_pair:
        return positives, {"image": [negatives(x, y)], "text": [negatives(y, x)]}
    side = "image" if batch.has("image") else "text"
    return positives, {side: [negatives(x, y, x), negatives(y, x, y)]}


class Naive:
    """The released arithmetic by dictionaries and loops, without logarithms and without scaling."""

    def __init__(self, method: Method) -> None:
        self.m = method
        self.u: dict[tuple[str, int], float] = {}
        self.tau: dict[tuple[str, int], float] = {}
        self.v: dict[tuple[str, int], float] = {}
        self.r = 0.0

    def mixed(self, before: float, new: float, epoch: int) -> float:
        return new if epoch == 0 else (1 - self.m.gamma) * before + self.m.gamma * new

    def step(self, batch: PairBatch, epoch: int) -> tuple[float, Tensor]:
        positives, sides = cosines(batch)
        value, pull, size = 0.0, torch.zeros((), dtype=torch.float64), batch.size
        for side, contrasts in sides.items():
            for i, sample in enumerate(batch.index.tolist()):
                key = (side, sample)
                tau = self.tau.get(key, self.m.tau)
                means = [sum(math.exp(s.item() / tau) for s in c[i]) / len(c[i]) for c in contrasts]
                u = self.u[key] = self.mixed(self.u.get(key, 0.0), sum(means) / len(means), epoch)
                slopes = []
                for mean, contrast in zip(means, contrasts, strict=True):
                    weights = [math.exp(s.item() / tau) / u / len(contrast[i]) for s in contrast[i]]
                    pull = pull + sum(w * s for w, s in zip(weights, contrast[i], strict=True)) / size
                    value += (tau * math.log(mean) + tau * self.m.rho) / size
                    spread = sum(w * s.item() / tau for w, s in zip(weights, contrast[i], strict=True))
                    slopes.append(math.log(u) + self.m.rho - spread)
                self.v[key] = (1 - self.m.beta) * self.v.get(key, 0.0) + self.m.beta * sum(slopes) / len(slopes)
                self.tau[key] = max(self.m.tau_min, min(self.m.tau_max, tau - self.m.eta * self.v[key]))
        scale = self.m.positive_lambda
        exponentials = [math.exp(-2 * s.item() / scale) for s in positives]
        self.r = self.mixed(self.r, sum(exponentials) / size, epoch)
        pull = pull - 2 * sum(e / self.r * s for e, s in zip(exponentials, positives, strict=True)) / size
        return value + scale * math.log(sum(exponentials) / size), pull


@pytest.mark.parametrize("tower", TOWERS)
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_matches_the_naive_twin(scale: float, tower: str) -> None:
    method = make(tau=0.1, tau_min=0.05, rho=1.0, gamma=0.6, beta=0.7, positive_lambda=scale)
    naive = Naive(method)
    for step, batch in enumerate(batches(tower)):
        loss = method(batch, Clock(step=step, total_steps=4, epoch=step // 2))
        value, pull = naive.step(batch, epoch=step // 2)
        assert loss.total.item() == pytest.approx(value, abs=1e-8)
        assert_close(gradients(loss.total, batch), gradients(pull, batch))
    state = method.state_dict()
    for (side, sample), u in naive.u.items():
        assert state[f"u.{side}.log_u"][sample].item() == pytest.approx(math.log(u), abs=1e-8)
        assert state[f"tau_{side}"][sample].item() == pytest.approx(naive.tau[side, sample], abs=1e-10)
    assert state["r.log_u"].item() == pytest.approx(math.log(naive.r), abs=1e-10)


def test_g_is_not_clipped() -> None:
    method, batch = make(tau=0.5, rho=100.0, eta=1e-4, beta=1.0), next(batches())
    method(batch, NOW)
    assert (method.tau_image[batch.index] < 0.5 - 50 * 1e-4).all()
