import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.methods.dystress import (
    cosine_profile,
    exponential_profile,
    linear_profile,
    monotone_profile,
    shifted_profile,
)

COSINES = st.floats(-1, 1)
LOW, HIGH = 0.01, 0.05
EVEN = {"cosine": cosine_profile, "linear": linear_profile, "exponential": exponential_profile}


def at(s: float) -> torch.Tensor:
    return torch.tensor(s, dtype=torch.float64)


@pytest.mark.parametrize("name", EVEN)
@given(s=COSINES)
def test_is_even_in_s_lowest_at_zero_and_highest_at_both_ends(name: str, s: float) -> None:
    profile = EVEN[name]
    assert profile(at(s), LOW, HIGH).item() == pytest.approx(profile(at(-s), LOW, HIGH).item(), abs=1e-15)
    assert LOW - 1e-15 <= profile(at(s), LOW, HIGH).item() <= HIGH + 1e-15
    assert profile(at(0.0), LOW, HIGH).item() == pytest.approx(LOW, abs=1e-15)
    assert profile(at(1.0), LOW, HIGH).item() == pytest.approx(HIGH, abs=1e-15)


@given(COSINES, COSINES)
def test_monotone_rises_from_one_end_to_the_other(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert monotone_profile(at(low), LOW, HIGH) <= monotone_profile(at(high), LOW, HIGH) + 1e-15
    assert monotone_profile(at(-1.0), LOW, HIGH).item() == pytest.approx(LOW)
    assert monotone_profile(at(0.0), LOW, HIGH).item() == pytest.approx(0.03)
    assert monotone_profile(at(1.0), LOW, HIGH).item() == pytest.approx(HIGH)


TABLE_7 = [(0.0, 0.5), (0.2, 0.6), (0.4, 0.7), (-0.2, 0.6), (-0.4, 0.7), (-0.6, 0.8)]


@pytest.mark.parametrize(("shift", "scale"), TABLE_7)
def test_the_papers_shifts_are_at_tau_max_at_both_ends_and_continuous(shift: float, scale: float) -> None:
    for s in (-1.0, 1.0, -shift - 1e-9, -shift + 1e-9):
        assert shifted_profile(at(s), LOW, HIGH, shift, scale).item() == pytest.approx(HIGH, abs=1e-12)
    lowest = -shift + (scale if shift > 0 else -scale)
    assert shifted_profile(at(lowest), LOW, HIGH, shift, scale).item() == pytest.approx(LOW, abs=1e-12)


@pytest.mark.parametrize("profile", [*EVEN.values(), monotone_profile])
def test_slopes_are_finite_everywhere(profile) -> None:  # type: ignore[no-untyped-def]
    s = torch.tensor([-1.0, -0.4, 0, 0.4, 1], requires_grad=True)
    (slope,) = torch.autograd.grad(profile(s, LOW, HIGH).sum(), s)
    assert torch.isfinite(slope).all()
