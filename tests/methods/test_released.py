"""What released code of the SogCLR family does instead of the papers, against its arithmetic written out literally."""

import math
from typing import Any

import pytest
import torch
from family import batch_of, given, one_sided
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch

SAMPLES, SIZE = 8, 4
IDS = torch.tensor([0, 3, 5, 6])
EPSILON = {"isogclr": 1e-10, "amclr": 1e-8}


def embeddings(dtype: torch.dtype = torch.float64) -> list[PairBatch]:
    """First positives are opposite and negatives near; then positives are near; then anything."""
    batches = []
    for step in range(5):
        generator = torch.Generator().manual_seed(step)
        noise = {
            part: 0.1 * torch.randn(SIZE, SIZE, generator=generator, dtype=torch.float64)
            for part in ("image", "text", "image_view", "text_view")
        }
        eye = torch.eye(SIZE, dtype=torch.float64)
        text = {0: -eye + eye.roll(1, 0), 4: 0 * eye}.get(step, eye)
        parts = {name: rows + (text if name.startswith("text") else eye) for name, rows in noise.items()}
        batches.append(PairBatch(**{n: t.to(dtype).requires_grad_() for n, t in parts.items()}, index=IDS))
    return batches


def gradients(total: Tensor, batch: PairBatch) -> list[Tensor]:
    leaves = list(given(batch).values())
    return list(torch.autograd.grad(total, leaves, retain_graph=True, allow_unused=True, materialize_grads=True))


class Scaled:
    """A state s that is scaled by exp(-b), b the largest exponent yet, with the first epoch and the epsilon of code."""

    def __init__(self, release: str, gamma: float) -> None:
        self.release, self.gamma = release, gamma
        self.s: dict[Any, float] = {}
        self.b: dict[Any, float] = {}

    def visit(self, key: Any, exponents: list[float], positive: float, epoch: int) -> tuple[list[float], float]:
        """Weights of the candidates, and the logarithm of the mean that G reads."""
        count, before = SIZE - 1, self.b.get(key, 0.0)
        scale = self.b[key] = max(before, positive, *exponents)
        scaled = [math.exp(x - scale) for x in exponents]
        new = sum(scaled) if self.release == "tempnet" else sum(scaled) / count
        old = self.s.get(key, 0.0) * math.exp(before - scale)
        state = self.s[key] = new if epoch == 0 else (1 - self.gamma) * old + self.gamma * new
        if self.release == "tempnet":
            state = max(state, 1e-14)
            return [x / state for x in scaled], math.log(state / count) + scale
        return [x / (state + EPSILON[self.release]) / count for x in scaled], math.log(state) + scale


def anchored(batch: PairBatch, anchor: str, candidate: str) -> tuple[list[Tensor], list[list[Tensor]]]:
    """Cosines of each anchor with its positive and with its negatives."""
    x, y = (torch.nn.functional.normalize(getattr(batch, part), dim=1) for part in (anchor, candidate))
    s = x @ y.T
    return [s[i, i] for i in range(SIZE)], [[s[i, j] for j in range(SIZE) if j != i] for i in range(SIZE)]


SIDES = (("image", "text"), ("text", "image"))


@pytest.mark.parametrize("release", ["isogclr", "tempnet", "amclr"])
def test_sogclr_with_a_released_epsilon(release: str) -> None:
    settings: dict[str, Any] = {"tau": 0.05, "gamma": 0.6, "first_visit": "first-epoch"}
    method = create_method("sogclr", num_samples=SAMPLES, released_epsilon=release, **settings)
    exact = create_method("sogclr", num_samples=SAMPLES, **settings)
    state, faded = Scaled(release, 0.6), []
    for step, batch in enumerate(embeddings()):
        epoch, pull = step // 3, torch.zeros((), dtype=torch.float64)
        for anchor, candidate in SIDES:
            for i, (positive, negatives) in enumerate(zip(*anchored(batch, anchor, candidate), strict=True)):
                gaps = [negative - positive for negative in negatives]
                weights, _ = state.visit((anchor, i), [gap.item() / 0.05 for gap in gaps], 0.0, epoch)
                pull = pull + sum(w * gap for w, gap in zip(weights, gaps, strict=True)) / SIZE
        clock = Clock(step=step, total_steps=5, epoch=epoch)
        ours, theirs = gradients(method(batch, clock).total, batch), gradients(pull, batch)
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=1e-8)
        plain = gradients(exact(batch, clock).total, batch)
        faded.append((ours[0].norm() / plain[0].norm()).item())
    assert faded[0] == pytest.approx(1, abs=1e-6)
    assert faded[1] < 0.5


def test_the_release_that_has_the_positive_in_its_mean() -> None:
    """Its sum is over all candidates, divided by B - 1, and a first visit gives gamma g."""
    options: dict[str, Any] = {"positive_in_denominator": True, "released_mean": True, "first_visit": "gamma-g"}
    method = create_method("sogclr", SAMPLES, tau=0.05, gamma=0.6, released_epsilon="isogclr", **options)
    state = Scaled("isogclr", 0.6)
    for step, batch in enumerate(embeddings()):
        pull = torch.zeros((), dtype=torch.float64)
        for anchor, candidate in SIDES:
            for i, (positive, negatives) in enumerate(zip(*anchored(batch, anchor, candidate), strict=True)):
                gaps = [other - positive for other in (*negatives, positive)]
                weights, _ = state.visit((anchor, i), [gap.item() / 0.05 for gap in gaps], 0.0, epoch=1)
                pull = pull + sum(w * gap for w, gap in zip(weights, gaps, strict=True)) / SIZE
        total = method(batch, Clock(step=step, total_steps=5)).total
        torch.testing.assert_close(gradients(total, batch), gradients(pull, batch), atol=1e-12, rtol=1e-8)


@pytest.mark.parametrize("release", ["tempnet", "amclr"])
@pytest.mark.parametrize("name", ["isogclr", "isogclr-robust"])
def test_isogclr_with_a_released_epsilon(name: str, release: str) -> None:
    settings: dict[str, Any] = {"tau": 0.05, "tau_min": 0.01, "tau_max": 0.5, "gamma": 0.6, "eta": 1e-3, "beta": 0.7}
    settings |= {"first_visit": "first-epoch", "released_epsilon": release, "rho": 3.0}
    method = create_method(name, num_samples=SAMPLES, **settings)
    state, robust = Scaled(release, 0.6), name == "isogclr-robust"
    taus: dict[Any, float] = {}
    momenta: dict[Any, float] = {}
    for step, batch in enumerate(embeddings()):
        epoch, pull = step // 3, torch.zeros((), dtype=torch.float64)
        for anchor, candidate in SIDES:
            for i, (positive, negatives) in enumerate(zip(*anchored(batch, anchor, candidate), strict=True)):
                tau = taus.get((anchor, i), 0.05)
                values = negatives if robust else [negative - positive for negative in negatives]
                exponents = [value.item() / tau for value in values]
                own = positive.item() / tau if robust else 0.0
                weights, log_mean = state.visit((anchor, i), exponents, own, epoch)
                pull = pull + sum(w * value for w, value in zip(weights, values, strict=True)) / SIZE
                slope = log_mean + 3.0 - sum(w * x for w, x in zip(weights, exponents, strict=True))
                slope = slope if robust else max(-5.0, min(5.0, slope))
                momenta[anchor, i] = 0.3 * momenta.get((anchor, i), 0.0) + 0.7 * slope
                taus[anchor, i] = max(0.01, min(0.5, tau - 1e-3 * momenta[anchor, i]))
        loss = method(batch, Clock(step=step, total_steps=5, epoch=epoch))
        ours = loss.total - loss.terms["positives"] if robust else loss.total
        torch.testing.assert_close(gradients(ours, batch), gradients(pull, batch), atol=1e-12, rtol=1e-8)
        for (side, i), tau in taus.items():
            assert method.state_dict()[f"tau_{side}"][IDS[i]].item() == pytest.approx(tau, rel=1e-9)


def test_tempnet_with_its_released_least_sum() -> None:
    settings: dict[str, Any] = {"tau": 0.05, "gamma": 0.6, "first_visit": "first-epoch", "width": SIZE}
    method = create_method("isogclr-tempnet", num_samples=SAMPLES, released_epsilon="tempnet", **settings).double()
    state = Scaled("tempnet", 0.6)
    for step, batch in enumerate(embeddings()):
        epoch, pull, learned = step // 3, torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
        for anchor, candidate in SIDES:
            predicted = method.temperature(anchor, torch.nn.functional.normalize(getattr(batch, anchor), dim=1))
            for i, (positive, negatives) in enumerate(zip(*anchored(batch, anchor, candidate), strict=True)):
                tau, gaps = predicted[i].item(), [negative - positive for negative in negatives]
                exponents = [gap.item() / tau for gap in gaps]
                weights, log_mean = state.visit((anchor, i), exponents, 0.0, epoch)
                pull = pull + sum(w * gap for w, gap in zip(weights, gaps, strict=True)) / SIZE
                slope = log_mean + 6.0 - sum(w * x for w, x in zip(weights, exponents, strict=True))
                learned = learned + slope * predicted[i] / SIZE
        loss = method(batch, Clock(step=step, total_steps=5, epoch=epoch))
        torch.testing.assert_close(gradients(loss.total, batch), gradients(pull, batch), atol=1e-12, rtol=1e-8)
        parameters = list(method.networks.parameters())
        ours = torch.autograd.grad(loss.total, parameters, retain_graph=True)
        torch.testing.assert_close(ours, torch.autograd.grad(learned, parameters), atol=1e-12, rtol=1e-8)


@pytest.mark.parametrize("name", ["amclr", "xamclr"])
def test_amclr_as_released_writes_one_slot_for_each_pairing_in_turn(name: str) -> None:
    options = {"state": "sequential", "first_visit": "first-epoch", "released_epsilon": "amclr"}
    method = create_method(name, num_samples=SAMPLES, tau=0.05, gamma=0.6, **options)
    state = Scaled("amclr", 0.6)
    for step, batch in enumerate(embeddings()):
        epoch, pull = step // 3, torch.zeros((), dtype=torch.float64)
        for anchor, candidate in method.pairings:
            for i, (positive, negatives) in enumerate(zip(*anchored(batch, anchor, candidate), strict=True)):
                gaps = [negative - positive for negative in negatives]
                slot = (anchor.split("_")[0], i)
                weights, _ = state.visit(slot, [gap.item() / 0.05 for gap in gaps], 0.0, epoch)
                pull = pull + sum(w * gap for w, gap in zip(weights, gaps, strict=True)) / SIZE
        clock = Clock(step=step, total_steps=5, epoch=epoch)
        would_be = method.eval()(batch, clock).total
        total = method.train()(batch, clock).total
        assert torch.equal(total, would_be)
        torch.testing.assert_close(gradients(total, batch), gradients(pull, batch), atol=1e-12, rtol=1e-8)


@pytest.mark.parametrize("release", ["isogclr", "tempnet", "amclr"])
def test_in_single_precision_at_tau_001_a_released_epsilon_kills_the_gradient_and_ours_does_not(release: str) -> None:
    first, second = embeddings(torch.float32)[:2]
    norms = {}
    for epsilon in ("none", release):
        method = create_method("sogclr", num_samples=SAMPLES, first_visit="first-epoch", released_epsilon=epsilon)
        method(first, Clock(step=0, total_steps=2))
        (image, *_) = gradients(method(second, Clock(step=1, total_steps=2)).total, second)
        norms[epsilon] = image.norm().item()
    assert norms["none"] > 0.1
    assert norms[release] < 1e-3 * norms["none"]


def test_the_released_mean_leaves_the_towers_gradient_and_shifts_g() -> None:
    settings: dict[str, Any] = {"tau": 0.1, "tau_max": 1.0, "eta": 1e-3, "beta": 1.0, "rho": 0.0}
    plain, released = (
        create_method("isogclr", SAMPLES, positive_in_denominator=True, released_mean=mean, **settings)
        for mean in (False, True)
    )
    batch = batch_of(SIZE)
    batch = PairBatch(image=batch.image, text=batch.text, index=IDS)
    totals = [method(batch, Clock(step=0, total_steps=2)).total for method in (plain, released)]
    torch.testing.assert_close(*(gradients(total, batch) for total in totals))
    difference = plain.tau_image[IDS] - released.tau_image[IDS]
    assert difference.tolist() == pytest.approx([1e-3 * math.log(SIZE / (SIZE - 1))] * SIZE)
    with pytest.raises(UsageError, match="sogclr: released_mean changes nothing unless positive_in_denominator"):
        create_method("sogclr", num_samples=SAMPLES, released_mean=True)


@pytest.mark.parametrize("name", ["sogclr", "isogclr"])
@pytest.mark.parametrize("side", ["image", "text"])
def test_a_u_for_each_view_is_moved_by_that_view_alone(side: str, name: str) -> None:
    method = create_method(name, num_samples=SAMPLES, tau=0.05, gamma=0.6, u_per_view=True)
    u: dict[tuple[int, int], float] = {}
    tau = [0.05] * SIZE
    for step in range(3):
        batch = one_sided(batch_of(SIZE, seed=step), side)
        batch = PairBatch(**given(batch), index=IDS)
        pull = torch.zeros((), dtype=torch.float64)
        views = [torch.nn.functional.normalize(view, dim=1) for view in batch.views]
        for k, (x, y) in enumerate((views, views[::-1])):
            for i in range(SIZE):
                gaps = [x[i] @ z[j] - x[i] @ y[i] for z in (y, x) for j in range(SIZE) if j != i]
                g = sum(math.exp(gap.item() / tau[i]) for gap in gaps) / len(gaps)
                u[k, i] = 0.4 * u[k, i] + 0.6 * g if (k, i) in u else g
                weights = [math.exp(gap.item() / tau[i]) / u[k, i] / len(gaps) for gap in gaps]
                pull = pull + sum(w * gap for w, gap in zip(weights, gaps, strict=True)) / SIZE
        total = method(batch, Clock(step=step, total_steps=3)).total
        torch.testing.assert_close(gradients(total, batch), gradients(pull, batch), atol=1e-10, rtol=1e-8)
        tau = method.state_dict()[f"tau_{side}"][IDS].tolist() if name == "isogclr" else tau
    for (k, i), value in u.items():
        stored = method.u[side if k == 0 else f"{side}_view"].log_u[IDS[i]]
        assert stored.item() == pytest.approx(math.log(value), abs=1e-10)


def test_with_a_u_for_each_view_one_towers_gradient_is_that_of_its_value_and_with_a_shared_one_it_is_not() -> None:
    batch = one_sided(batch_of(SIZE), "image")
    batch = PairBatch(**given(batch), index=IDS)
    x, y = (torch.nn.functional.normalize(view, dim=1) for view in batch.views)
    others = ~torch.eye(SIZE, dtype=torch.bool).repeat(1, 2)
    value = torch.zeros((), dtype=torch.float64)
    for a, b in ((x, y), (y, x)):
        gaps = torch.cat([a @ b.T, a @ a.T], dim=1) - (a * b).sum(1, keepdim=True)
        mean = (torch.exp(gaps / 0.1) * others).sum(1) / (2 * (SIZE - 1))
        value = value + 0.1 * mean.log().mean()
    expected = gradients(value, batch)
    for per_view in (True, False):
        method = create_method("sogclr", num_samples=SAMPLES, tau=0.1, u_per_view=per_view)
        total = method(batch, Clock(step=0, total_steps=2)).total
        assert total.item() == pytest.approx(value.item(), abs=1e-10)
        difference = (gradients(total, batch)[0] - expected[0]).norm() / expected[0].norm()
        assert difference < 1e-8 if per_view else difference > 1e-2
