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

MakeBatch = Callable[..., PairBatch]


def temperature(step: int, total: int, **settings: float) -> float:
    batch = PairBatch(image=torch.eye(2), text=torch.eye(2))
    gauges = create_method("ts", **settings)(batch, Clock(step=step, total_steps=total)).gauges
    return float(gauges["temperature"])


@given(step=st.integers(0, 20), low=st.floats(0.01, 0.1), width=st.floats(0, 0.5), periods=st.floats(0.5, 10))
def test_matches_the_naive_twin_in_value_and_gradient(step: int, low: float, width: float, periods: float) -> None:
    generator = torch.Generator().manual_seed(step)
    image, text = (torch.randn(4, 3, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(2))
    method = create_method("ts", tau_min=low, tau_max=low + width, periods=periods)
    ours = method(PairBatch(image=image, text=text), Clock(step=step, total_steps=20)).total
    tau = low + 0.5 * width * (1 + math.cos(2 * math.pi * periods * step / 20))
    naive = naive_info_nce(image, text, tau)
    assert ours.item() == pytest.approx(naive.item(), abs=1e-8)
    for mine, twin in zip(*(torch.autograd.grad(loss, (image, text)) for loss in (ours, naive)), strict=True):
        torch.testing.assert_close(mine, twin, atol=1e-8, rtol=1e-8)


@given(step=st.integers(0, 50), tau=st.floats(0.01, 1.0))
def test_equal_bounds_is_infonce(step: int, tau: float) -> None:
    generator = torch.Generator().manual_seed(step)
    image, text = (torch.randn(4, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    batch, clock = PairBatch(image=image, text=text), Clock(step=step, total_steps=50)
    scheduled, fixed = create_method("ts", tau_min=tau, tau_max=tau), create_method("infonce", tau=tau)
    assert scheduled(batch, clock).total.item() == fixed(batch, clock).total.item()


@pytest.mark.parametrize("side", ["image", "text"])
@given(step=st.integers(0, 50), low=st.floats(0.1, 1.0))
def test_on_one_tower_it_is_simclr_at_the_moments_temperature(side: str, step: int, low: float) -> None:
    generator = torch.Generator().manual_seed(step)
    one, other = (torch.randn(4, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    batch, clock = PairBatch(**{side: one, f"{side}_view": other}), Clock(step=step, total_steps=50)
    scheduled = create_method("ts", tau_min=low, tau_max=1.0, periods=2)(batch, clock)
    fixed = create_method("simclr", tau=float(scheduled.gauges["temperature"]))(batch, clock)
    assert scheduled.total.item() == pytest.approx(fixed.total.item())


def test_starts_at_tau_max() -> None:
    assert temperature(0, 100) == pytest.approx(0.05)
    assert temperature(0, 100, tau_min=0.1, tau_max=1.0) == pytest.approx(1.0)


@pytest.mark.parametrize("periods", [1, 2, 5])
def test_half_a_period_later_it_is_at_tau_min(periods: int) -> None:
    for period in range(periods):
        assert temperature(2 * period + 1, 2 * periods, periods=periods) == pytest.approx(0.01, abs=1e-12)
        assert temperature(2 * period + 2, 2 * periods, periods=periods) == pytest.approx(0.05, abs=1e-12)


def test_five_periods_is_the_default() -> None:
    curve = [temperature(step, 1000) for step in range(1001)]
    lows = [i for i in range(1, 1000) if curve[i] < curve[i - 1] and curve[i] < curve[i + 1]]
    assert lows == [100, 300, 500, 700, 900]


def test_crossed_bounds_are_refused_with_both_numbers() -> None:
    with pytest.raises(UsageError, match=r"ts: tau_min 0\.2 is above tau_max 0\.1"):
        create_method("ts", tau_min=0.2, tau_max=0.1)


def test_a_misspelt_hyperparameter_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r'"tau_mxa".*Did you mean "tau_max"'):
        create_method("ts", tau_mxa=0.1)
