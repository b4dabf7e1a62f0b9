import math
from collections.abc import Callable

import pytest
import torch
from family import naive_info_nce
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.infonce import InfoNCELearnable

MakeBatch = Callable[..., PairBatch]
NOW = Clock(step=1, total_steps=3)
BOTH = ["log-scale", "temperature"]


def learnable(parameter: str = "log-scale", **settings: float) -> InfoNCELearnable:
    method = create_method("infonce-learnable", parameter=parameter, **settings)
    assert isinstance(method, InfoNCELearnable)
    return method


@given(size=st.integers(1, 5), seed=st.integers(0, 999), tau=st.floats(0.01, 1.0))
def test_matches_the_naive_twin_in_value_and_gradient(size: int, seed: int, tau: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    image, text = (torch.randn(size, 3, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(2))
    ours = create_method("infonce", tau=tau)(PairBatch(image=image, text=text), NOW).total
    naive = naive_info_nce(image, text, tau)
    assert ours.item() == pytest.approx(naive.item(), abs=1e-8)
    for mine, twin in zip(*(torch.autograd.grad(loss, (image, text)) for loss in (ours, naive)), strict=True):
        torch.testing.assert_close(mine, twin, atol=1e-8, rtol=1e-8)


def test_a_fixed_temperature_has_nothing_to_optimize() -> None:
    assert list(create_method("infonce").parameter_groups()) == []
    assert create_method("infonce").needs == frozenset()


@pytest.mark.parametrize("parameter", BOTH)
def test_learnable_matches_the_naive_twin_in_value_and_every_gradient(parameter: str, make_batch: MakeBatch) -> None:
    method, batch = learnable(parameter).double(), make_batch(grad=True)
    ours = method(batch, NOW).total
    tau = torch.exp(-method.learned) if parameter == "log-scale" else method.learned
    naive = naive_info_nce(batch.image, batch.text, tau)
    assert ours.item() == pytest.approx(naive.item(), abs=1e-8)
    leaves = (batch.image, batch.text, method.learned)
    for mine, twin in zip(*(torch.autograd.grad(loss, leaves) for loss in (ours, naive)), strict=True):
        torch.testing.assert_close(mine, twin, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize(("parameter", "decay"), [("log-scale", 0.0), ("temperature", 0.02)])
def test_the_learned_temperature_has_a_group_with_its_own_decay(parameter: str, decay: float) -> None:
    method = learnable(parameter)
    (group,) = method.parameter_groups()
    assert group.parameters == (method.learned,)
    assert group.parameters == tuple(method.parameters())
    assert (group.weight_decay, group.lr_factor) == (decay, 1.0)


@pytest.mark.parametrize(
    ("parameter", "pushed", "temperature"),
    [
        ("log-scale", 50.0, 0.01),
        ("log-scale", -3.0, 1.0),
        ("log-scale", 2.0, math.exp(-2)),
        ("temperature", -1.0, 0.001),
        ("temperature", 0.9, 0.5),
        ("temperature", 0.3, 0.3),
    ],
)
def test_after_a_step_the_temperature_is_back_in_its_range(parameter: str, pushed: float, temperature: float) -> None:
    method = learnable(parameter)
    with torch.no_grad():
        method.learned.fill_(pushed)
    method.after_step()
    assert method.temperature.item() == pytest.approx(temperature, rel=1e-5)
    assert method.learned.requires_grad


def test_the_largest_scale_can_be_chosen() -> None:
    method = learnable(max_scale=20.0)
    with torch.no_grad():
        method.learned.fill_(50.0)
    method.after_step()
    assert method.temperature.item() == pytest.approx(1 / 20, rel=1e-5)


def test_a_largest_scale_that_no_temperature_meets_is_refused() -> None:
    with pytest.raises(UsageError, match="max_scale"):
        learnable(max_scale=0.0)


def test_the_curve_shows_the_learned_temperature(make_batch: MakeBatch) -> None:
    gauge = torch.as_tensor(learnable(tau=0.2)(make_batch(), NOW).gauges["temperature"])
    assert gauge.item() == pytest.approx(0.2, rel=1e-6)
