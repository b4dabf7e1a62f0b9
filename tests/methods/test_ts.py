import math

import pytest
import torch
from family import naive_info_nce
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch


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


@pytest.mark.parametrize("side", ["image", "text"])
@given(step=st.integers(0, 50), low=st.floats(0.1, 1.0))
def test_on_one_tower_it_is_simclr_at_the_moments_temperature(side: str, step: int, low: float) -> None:
    generator = torch.Generator().manual_seed(step)
    one, other = (torch.randn(4, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    batch, clock = PairBatch(**{side: one, f"{side}_view": other}), Clock(step=step, total_steps=50)
    scheduled = create_method("ts", tau_min=low, tau_max=1.0, periods=2)(batch, clock)
    fixed = create_method("simclr", tau=float(scheduled.gauges["temperature"]))(batch, clock)
    assert scheduled.total.item() == pytest.approx(fixed.total.item())


def test_crossed_bounds_are_refused_with_both_numbers() -> None:
    with pytest.raises(UsageError, match=r"ts: tau_min 0\.2 is above tau_max 0\.1"):
        create_method("ts", tau_min=0.2, tau_max=0.1)
