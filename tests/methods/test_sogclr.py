import copy
import math
from typing import Any

import pytest
import torch
from family import naive_average
from global_batches import IDS, NOW, PARTS, SAMPLES, assert_close, batches, gradients, naive_contrasts
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.fields import temperatures
from benchsuite.methods import create_method, method_class
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch

NAMES = ["sogclr", "isogclr", "isogclr-robust", "isogclr-tempnet"]
REMEMBERING = [*NAMES, "amclr", "xamclr", "amclr-robust", "fastclip"]
RULES = ["g", "gamma-g", "first-epoch"]
TOWERS = ["pair", "image", "text"]


class Naive:
    """SogCLR and iSogCLR by dictionaries and loops: no logarithm is kept, nothing is stabilised."""

    def __init__(self, method: Method) -> None:
        self.m = method
        self.u: dict[tuple[str, int], float] = {}
        self.tau: dict[tuple[str, int], float] = {}
        self.v: dict[tuple[str, int], float] = {}

    def step(self, batch: PairBatch, epoch: int = 0) -> tuple[float, Tensor]:
        """The batch's objective, and a loss with the estimator's gradient."""
        value, pull = 0.0, torch.zeros((), dtype=torch.float64)
        own = self.m.card.name == "isogclr"
        for side, contrasts in naive_contrasts(batch, self.m.positive_in_denominator).values():
            for i, sample in enumerate(batch.index.tolist()):
                key = (side, sample)
                tau = self.tau.get(key, self.m.tau)
                g = [sum(math.exp(x.item() / tau) for x in c[i]) / len(c[i]) for c in contrasts]
                u = naive_average(self.u, key, sum(g) / len(g), epoch, self.m)
                slopes = []
                for k, contrast in enumerate(contrasts):
                    weights = [math.exp(x.item() / tau) / u / len(contrast[i]) for x in contrast[i]]
                    pull = pull + sum(w * x for w, x in zip(weights, contrast[i], strict=True)) / batch.size
                    value += (tau * math.log(g[k]) + (tau * self.m.rho if own else 0)) / batch.size
                    spread = sum(w * x.item() / tau for w, x in zip(weights, contrast[i], strict=True))
                    slopes.append(math.log(u) + self.m.rho - spread if own else 0.0)
                if own:
                    slope = max(-5.0, min(5.0, sum(slopes) / len(slopes)))
                    self.v[key] = (1 - self.m.beta) * self.v.get(key, 0.0) + self.m.beta * slope
                    self.tau[key] = max(self.m.tau_min, min(self.m.tau_max, tau - self.m.eta * self.v[key]))
        return value, pull


def assert_twins(name: str, tower: str, **settings: Any) -> None:
    method = create_method(name, num_samples=SAMPLES, **settings)
    naive = Naive(method)
    for step, batch in enumerate(batches(tower, steps=6)):
        loss = method(batch, Clock(step=step, total_steps=6, epoch=step // 3))
        value, pull = naive.step(batch, epoch=step // 3)
        assert loss.total.item() == pytest.approx(value * settings.get("loss_scale", 1), abs=1e-8)
        assert_close(gradients(loss.total, batch), gradients(pull * settings.get("loss_scale", 1), batch))
    state = method.state_dict()
    for (side, sample), u in naive.u.items():
        assert state[f"u.{side}.log_u"][sample].item() == pytest.approx(math.log(u), abs=1e-8)
    for (side, sample), tau in naive.tau.items():
        assert state[f"tau_{side}"][sample].item() == pytest.approx(tau, abs=1e-10)
        assert state[f"v_{side}"][sample].item() == pytest.approx(naive.v[side, sample], abs=1e-8)


@pytest.mark.parametrize("tower", TOWERS)
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_sogclr_matches_the_naive_twin(rule: str, positive: bool, tower: str) -> None:
    assert_twins("sogclr", tower, tau=0.1, gamma=0.6, first_visit=rule, positive_in_denominator=positive)


@pytest.mark.parametrize("tower", TOWERS)
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_isogclr_matches_the_naive_twin(rule: str, positive: bool, tower: str) -> None:
    settings = {"tau": 0.1, "tau_min": 0.05, "tau_max": 0.5, "eta": 0.02, "rho": 1.0, "gamma": 0.6, "beta": 0.7}
    assert_twins("isogclr", tower, **settings, first_visit=rule, positive_in_denominator=positive)


def test_the_defaults_match_the_naive_twin() -> None:
    assert_twins("sogclr", "pair")
    assert_twins("isogclr", "pair")


def test_loss_scale_is_a_factor() -> None:
    assert_twins("sogclr", "pair", tau=0.1, loss_scale=2.5)


@pytest.mark.parametrize("name", NAMES)
def test_the_terms_add_up_to_the_total(name: str) -> None:
    loss = create_method(name, num_samples=SAMPLES)(next(batches()), NOW)
    assert sum(term.item() for term in loss.terms.values()) == pytest.approx(loss.total.item())
    assert not any(isinstance(g, Tensor) and g.requires_grad for g in loss.gauges.values())


def test_the_temperature_gradient_is_clipped_at_five() -> None:
    batch = next(batches())
    for rho, moved in ((100.0, 0.5 - 0.01 * 5), (-100.0, 0.5 + 0.01 * 5)):
        method = create_method("isogclr", num_samples=SAMPLES, tau=0.5, tau_max=1, eta=0.01, beta=1, rho=rho)
        method(batch, NOW)
        assert method.tau_image[batch.index].tolist() == pytest.approx([moved] * 4)


def test_temperatures_stay_in_their_range() -> None:
    for rho, bound in ((1e5, 0.005), (-1e5, 0.05)):
        method = create_method("isogclr", num_samples=SAMPLES, rho=rho)
        for batch in batches():
            method(batch, NOW)
        met = sorted({i for ids in IDS for i in ids})
        assert method.tau_image[met].tolist() == pytest.approx([bound] * len(met))
        assert method.tau_image[4].item() == pytest.approx(0.01)


def test_a_sample_met_twice_in_a_batch_moves_its_temperature_once() -> None:
    batch = next(batches())
    rows = [0, 0, 1, 2]
    double = PairBatch(image=batch.image[rows], text=batch.text[rows], index=torch.tensor([5, 5, 6, 7]))
    method = create_method("isogclr", num_samples=SAMPLES, eta=0.001, beta=0.5, rho=100.0, tau_max=1)
    method(double, NOW)
    assert method.v_image[5:].tolist() == pytest.approx([2.5] * 3)
    assert method.tau_image[5:].tolist() == pytest.approx([0.01 - 0.0025] * 3)


@pytest.mark.parametrize("name", REMEMBERING)
def test_the_size_of_the_training_set_is_asked_for(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: it remembers each sample, so it needs num_samples"):
        create_method(name)


@pytest.mark.parametrize("name", REMEMBERING)
def test_a_moving_average_that_cannot_move_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: gamma 0.0 would never"):
        create_method(name, num_samples=4, gamma=0)


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize(("low", "tau", "high"), [(0.005, 0.2, 0.05), (0.005, 0.001, 0.05), (0.05, 0.02, 0.01)])
def test_a_start_outside_of_the_range_is_refused_with_the_numbers(
    name: str, low: float, tau: float, high: float
) -> None:
    with pytest.raises(UsageError, match=rf"tau {tau}, .* not between tau_min {low} and tau_max {high}"):
        create_method(name, num_samples=4, tau=tau, tau_min=low, tau_max=high)


@pytest.mark.parametrize("name", REMEMBERING)
def test_a_batch_of_one_is_refused(name: str) -> None:
    batch = PairBatch(**{part: torch.ones(1, 3) for part in PARTS}, index=torch.tensor([0]))
    with pytest.raises(ValueError, match="one has no negatives"):
        create_method(name, num_samples=4)(batch, NOW)


def test_what_a_recipes_factor_multiplies() -> None:
    assert temperatures(method_class("sogclr")) == ["tau"]
    assert temperatures(method_class("isogclr")) == ["tau", "eta", "tau_min", "tau_max"]
    assert temperatures(method_class("isogclr-robust")) == ["tau", "eta", "tau_min", "tau_max", "positive_lambda"]
    assert temperatures(method_class("isogclr-tempnet")) == ["tau", "tau_min", "tau_max"]
    assert temperatures(method_class("fastclip")) == ["tau", "eta", "tau_min", "tau_max"]


@pytest.mark.parametrize("name", NAMES[:2])
def test_the_two_sides_of_a_pair_and_the_two_kinds_of_tower_keep_states_of_their_own(name: str) -> None:
    method = create_method(name, num_samples=SAMPLES)
    for tower in ("image", "text"):
        before = {n: t.clone() for n, t in method.state_dict().items()}
        method(next(batches(tower)), NOW)
        changed = {n for n, t in method.state_dict().items() if not torch.equal(t, before[n])}
        assert changed
        assert all(tower in n for n in changed)


@pytest.mark.parametrize("name", NAMES)
def test_evaluation_changes_no_state_and_gives_what_training_would(name: str) -> None:
    method = create_method(name, num_samples=SAMPLES, width=3)
    first, second = list(batches(steps=2))
    method(first, NOW)
    before = copy.deepcopy(method.state_dict())
    request = method.eval()(second, NOW).total
    assert all(torch.equal(t, before[n]) for n, t in method.state_dict().items())
    assert torch.equal(method.train()(second, NOW).total, request)
    assert any(not torch.equal(t, before[n]) for n, t in method.state_dict().items())
