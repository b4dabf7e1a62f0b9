import math
from collections.abc import Callable

import pytest
import torch
from family import naive_info_nce
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch

MakeBatch = Callable[..., PairBatch]
NOW = Clock(step=1, total_steps=4)
NAMES = [
    "gap-flt",
    "gap-ts",
    "gap-ts-cosine",
    "gap-tr-softplus",
    "gap-tr-scale",
    "gap-slrt",
    "gap-no-normalization",
]
LEARNED = ["gap-tr-softplus", "gap-tr-scale", "gap-slrt"]


def naive_temperature(name: str, t: float, nu: Tensor | None) -> Tensor | float:
    match name:
        case "gap-flt":
            return 0.04
        case "gap-no-normalization":
            return 0.07
        case "gap-ts":
            return 0.01 + (0.05 - 0.01) * t
        case "gap-ts-cosine":
            return 0.025 - 0.015 * math.cos(2 * math.pi * 5 * t)
    assert nu is not None
    match name:
        case "gap-tr-softplus":
            return 1 / torch.log(1 + torch.exp(nu))
        case "gap-tr-scale":
            return 1 / torch.exp(nu / 2)
        case _:
            return 1 / torch.exp(nu)


def gauge(loss: Loss) -> float:
    return torch.as_tensor(loss.gauges["temperature"], dtype=torch.float64).item()


def temperature(name: str, step: int, total: int, **settings: float) -> float:
    batch = PairBatch(image=torch.eye(2), text=torch.eye(2))
    return gauge(create_method(name, **settings)(batch, Clock(step, total)))


@pytest.mark.parametrize("name", NAMES)
@given(step=st.integers(0, 20), size=st.integers(1, 5))
def test_matches_the_naive_twin_in_value_and_every_gradient(name: str, step: int, size: int) -> None:
    generator = torch.Generator().manual_seed(step)
    image, text = (torch.randn(size, 3, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(2))
    method = create_method(name).double()
    own = list(method.parameters())
    ours = method(PairBatch(image=image, text=text), Clock(step, 20)).total
    tau = naive_temperature(name, step / 20, own[0] if own else None)
    naive = naive_info_nce(image, text, tau, unit=name != "gap-no-normalization")
    assert ours.item() == pytest.approx(naive.item(), abs=1e-8)
    leaves = (image, text, *own)
    for mine, twin in zip(*(torch.autograd.grad(loss, leaves) for loss in (ours, naive)), strict=True):
        torch.testing.assert_close(mine, twin, atol=1e-8, rtol=1e-8)


def test_the_alternation_goes_there_and_back() -> None:
    curve = [temperature("gap-ts-cosine", step, 8, periods=2) for step in range(9)]
    assert curve == pytest.approx([0.01, 0.025, 0.04, 0.025, 0.01, 0.025, 0.04, 0.025, 0.01], abs=1e-12)


@pytest.mark.parametrize("name", LEARNED)
def test_every_parameterisation_starts_at_the_baselines_temperature(name: str, make_batch: MakeBatch) -> None:
    batch = make_batch()
    baseline = create_method("infonce-learnable")
    assert create_method(name)(batch, NOW).total.item() == pytest.approx(baseline(batch, NOW).total.item(), abs=1e-5)
    assert temperature(name, 0, 1, tau=0.2) == pytest.approx(0.2, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "settings", "tau"),
    [("gap-tr-softplus", {}, 0.3667), ("gap-tr-scale", {"s": 2}, 0.2646), ("gap-tr-scale", {"s": 10}, 0.7665)],
)
def test_the_baselines_first_nu_would_be_another_temperature(
    name: str, settings: dict[str, float], tau: float, make_batch: MakeBatch
) -> None:
    method = create_method(name, tau=tau, **settings)
    assert next(method.parameters()).item() == pytest.approx(math.log(1 / 0.07), abs=2e-3)


def test_scale_one_is_the_baseline(make_batch: MakeBatch) -> None:
    batch = make_batch(grad=True)
    ours, baseline = create_method("gap-tr-scale", s=1).double(), create_method("infonce-learnable").double()
    slopes = [torch.autograd.grad(m(batch, NOW).total, list(m.parameters()))[0].item() for m in (ours, baseline)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-9)
    assert next(ours.parameters()).item() == pytest.approx(next(baseline.parameters()).item())


@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize(("pushed", "tau"), [(1e4, 0.01), (-1e4, 1.0)])
def test_after_a_step_the_temperature_is_back_in_its_range(name: str, pushed: float, tau: float) -> None:
    method = create_method(name)
    with torch.no_grad():
        next(method.parameters()).fill_(pushed)
    method.after_step()
    assert gauge(method(PairBatch(image=torch.eye(2), text=torch.eye(2)), NOW)) == pytest.approx(tau, rel=1e-5)


@pytest.mark.parametrize("name", LEARNED)
def test_the_largest_scale_can_be_chosen(name: str) -> None:
    method = create_method(name, max_scale=20.0)
    with torch.no_grad():
        next(method.parameters()).fill_(1e4)
    method.after_step()
    assert gauge(method(PairBatch(image=torch.eye(2), text=torch.eye(2)), NOW)) == pytest.approx(0.05, rel=1e-5)


@pytest.mark.parametrize("name", LEARNED)
def test_the_learned_temperature_has_a_group_of_its_own(name: str) -> None:
    method = create_method(name)
    (group,) = method.parameter_groups()
    assert group.parameters == tuple(method.parameters())
    assert (group.weight_decay, group.lr_factor) == (0.0, 0.1 if name == "gap-slrt" else 1.0)


def test_the_slower_rate_can_be_chosen() -> None:
    assert next(iter(create_method("gap-slrt", lr_factor=0.5).parameter_groups())).lr_factor == 0.5


def test_softplus_is_finite_far_out() -> None:
    method = create_method("gap-tr-softplus", max_scale=1e4)
    for pushed in (-20.0, 200.0):
        with torch.no_grad():
            next(method.parameters()).fill_(pushed)
        loss = method(PairBatch(image=torch.eye(2), text=torch.eye(2)), NOW).total
        assert torch.isfinite(torch.autograd.grad(loss, list(method.parameters()))[0])


def test_without_normalization_lengths_matter(make_batch: MakeBatch) -> None:
    batch, method = make_batch(), create_method("gap-no-normalization", tau=1.0)
    longer = PairBatch(image=2 * batch.image, text=batch.text)
    assert method(longer, NOW).total.item() == pytest.approx(
        create_method("gap-no-normalization", tau=0.5)(batch, NOW).total.item(), abs=1e-10
    )
    assert list(method.parameters()) == []


@pytest.mark.parametrize("name", ["gap-tr-softplus", "gap-tr-scale"])
def test_a_largest_scale_below_the_smallest_is_refused_with_its_number(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: max_scale 0\.5 is below 1"):
        create_method(name, max_scale=0.5)
