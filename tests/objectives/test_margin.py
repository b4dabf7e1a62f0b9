import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.methods.mm_ts import max_margin
from benchsuite.objectives.blocks import Sizes, sized


def matrix(size: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (2 * torch.rand(size, size, generator=generator, dtype=torch.float64) - 1).requires_grad_()


def naive(s: Tensor, margins: list[float]) -> Tensor:
    total, terms = torch.zeros((), dtype=torch.float64), 0
    for i in range(len(s)):
        for j in range(len(s)):
            if i != j:
                for negative in (s[i, j], s[j, i]):
                    short = margins[i] - s[i, i] + negative
                    total = total + (short if short > 0 else 0 * short)
                    terms += 1
    return total / terms


@given(size=st.integers(2, 6), seed=st.integers(0, 999), margins=st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_matches_the_naive_twin_in_value_and_gradient(size: int, seed: int, margins: list[float]) -> None:
    s = matrix(size, seed)
    twin = naive(s, margins)
    (expected,) = torch.autograd.grad(twin, s)
    for sizes in (Sizes(), Sizes(whole=0, rows=2)):
        with sized(sizes):
            ours = max_margin(s, torch.tensor(margins[:size], dtype=torch.float64))
            (mine,) = torch.autograd.grad(ours, s)
        assert ours.item() == pytest.approx(twin.item(), abs=1e-8)
        torch.testing.assert_close(mine, expected, atol=1e-8, rtol=0)


@given(size=st.integers(1, 6), seed=st.integers(0, 999), margin=st.floats(0, 1))
def test_equal_margins_are_one_margin(size: int, seed: int, margin: float) -> None:
    s = matrix(size, seed)
    each = torch.full((size,), margin, dtype=torch.float64)
    assert max_margin(s, each).item() == pytest.approx(max_margin(s, margin).item(), abs=1e-14)


def test_one_pair_alone_costs_nothing() -> None:
    s = matrix(1, 0)
    value = max_margin(s, 0.2)
    assert value.item() == 0
    assert torch.autograd.grad(value, s)[0].tolist() == [[0.0]]
