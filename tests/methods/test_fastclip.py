import math
from typing import Any

import pytest
import torch
from global_batches import NOW, SAMPLES, assert_close, batches, gradients, naive_contrasts
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch

VERSIONS = ("v1", "v2", "v3")


def make(version: str, **settings: Any) -> Method:
    return create_method("fastclip", num_samples=SAMPLES, version=version, **settings).double()


class Naive:
    """The paper's equations by dictionaries and loops: no logarithm is kept, nothing is stabilised."""

    def __init__(self, method: Method) -> None:
        self.m = method
        self.tau = torch.tensor(method.tau, dtype=torch.float64, requires_grad=method.version == "v3")
        self.u: dict[tuple[str, int], float] = {}
        self.own: dict[tuple[str, int], float] = {}
        self.v: dict[tuple[str, int], float] = {}

    def step(self, batch: PairBatch, gamma: float) -> tuple[float, Tensor]:
        """The batch's objective, and a loss with the estimator's gradient, in tau, too."""
        m, eps = self.m, self.m.eps
        rho = 0.0 if m.version == "v1" else m.rho
        value, pull = 0.0, torch.zeros((), dtype=torch.float64)
        for side, (anchors,) in naive_contrasts(batch, False).values():
            for i, sample in enumerate(batch.index.tolist()):
                key = (side, sample)
                tau = torch.tensor(self.own.get(key, m.tau), dtype=torch.float64) if m.version == "v2" else self.tau
                g = sum(torch.exp(x / tau) for x in anchors[i]) / len(anchors[i])
                before = self.u.get(key)
                u = self.u[key] = g.item() if before is None else (1 - gamma) * before + gamma * g.item()
                pull = pull + (tau.detach() / (eps + u) * g + tau * (math.log(eps + u) + rho)) / batch.size
                value += tau.item() * (math.log(eps + g.item()) + rho) / batch.size
                if m.version == "v2":
                    t = tau.item()
                    weights = [math.exp(x.item() / t) / len(anchors[i]) / (eps + u) for x in anchors[i]]
                    spread = sum(w * x.item() / t for w, x in zip(weights, anchors[i], strict=True))
                    slope = max(-5.0, min(5.0, math.log(eps + u) + rho - spread))
                    self.v[key] = (1 - m.beta) * self.v.get(key, 0.0) + m.beta * slope
                    self.own[key] = max(m.tau_min, min(m.tau_max, t - m.eta * self.v[key]))
        return value, pull


@pytest.mark.parametrize("eps", [1e-14, 0.5])
@pytest.mark.parametrize("version", VERSIONS)
def test_matches_the_naive_twin(version: str, eps: float) -> None:
    method = make(version, tau=0.1, tau_min=0.05, eps=eps, rho=1.5, eta=0.02)
    naive = Naive(method)
    for step, batch in enumerate(batches(steps=6)):
        clock = Clock(step, 10)
        loss = method(batch, clock)
        value, pull = naive.step(batch, 0.2 + 0.8 * 0.5 * (1 + math.cos(math.pi * min(1.0, step / 5))))
        assert loss.total.item() == pytest.approx(value, abs=1e-7)
        assert_close(gradients(loss.total, batch), gradients(pull, batch), 1e-6)
        if version == "v3":
            ours, theirs = (
                torch.autograd.grad(t, p)[0] for t, p in ((loss.total, method.parameter), (pull, naive.tau))
            )
            torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)
    state = method.state_dict()
    for (side, sample), u in naive.u.items():
        assert state[f"u.{side}.log_u"][sample].item() == pytest.approx(math.log(u), abs=1e-6)
    for (side, sample), tau in naive.own.items():
        assert state[f"tau_{side}"][sample].item() == pytest.approx(tau, abs=1e-10)


@pytest.mark.parametrize(
    ("clock", "epochs", "gamma"),
    [
        (Clock(0, 100), None, 1.0),
        (Clock(25, 100, epoch=9), None, 0.6),
        (Clock(50, 100), None, 0.2),
        (Clock(100, 100), None, 0.2),
        (Clock(10, 100, epoch=0), 4, 1.0),
        (Clock(20, 100, epoch=2), 4, 0.6),
        (Clock(29, 100, epoch=2), 4, 0.6),
        (Clock(90, 100, epoch=7), 4, 0.2),
    ],
)
def test_gamma_falls_from_one_along_a_cosine(clock: Clock, epochs: int | None, gamma: float) -> None:
    method = make("v1", decay_epochs=epochs)
    assert method(next(batches()), clock).gauges["gamma"] == pytest.approx(gamma)


@pytest.mark.parametrize("learned", ["temperature", "log-scale"])
def test_the_temperature_learns_without_decay_and_stays_in_its_range(learned: str) -> None:
    method = make("v3", learned=learned, tau=0.25)
    loss = method(next(batches()), NOW)
    loss.total.backward()
    (group,) = method.parameter_groups()
    assert group.parameters == (method.parameter,)
    assert (group.weight_decay, group.lr_factor) == (0, 0.2)
    assert loss.gauges["temperature"].item() == pytest.approx(0.25, rel=1e-6)
    for far, bound in ((9.0, 0.01 if learned == "log-scale" else 1.0), (-9.0, 1.0 if learned == "log-scale" else 0.01)):
        with torch.no_grad():
            method.parameter.fill_(far)
        method.after_step()
        assert method(next(batches()), NOW).gauges["temperature"].item() == pytest.approx(bound, rel=1e-6)


def test_the_log_scale_has_the_chain_rules_gradient() -> None:
    slopes = []
    for learned in ("temperature", "log-scale"):
        method = make("v3", learned=learned, tau=0.25)
        slopes.append(torch.autograd.grad(method(next(batches()), NOW).total, method.parameter)[0].item())
    assert slopes[1] == pytest.approx(-0.25 * slopes[0], rel=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
def test_only_what_a_version_learns_is_kept(version: str) -> None:
    method = make(version)
    assert len(list(method.parameters())) == len(method.parameter_groups()) == (version == "v3")
    assert ("tau_image" in method.state_dict()) == (version == "v2")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"released_epsilon": "amclr"}, "released_epsilon"),
        ({"u_per_view": True}, "u_per_view"),
        ({"tau": 2.0}, r"tau 2.0, .* not between tau_min 0.01 and tau_max 1.0"),
    ],
)
def test_what_cannot_work_is_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=f"fastclip: .*{problem}"):
        create_method("fastclip", num_samples=4, **settings)
