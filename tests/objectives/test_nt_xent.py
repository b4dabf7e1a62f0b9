import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.objectives.nt_xent import Candidates, nt_xent


def views(size: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    first, second = (torch.randn(size, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    return first.requires_grad_(), second.requires_grad_()


@given(size=st.integers(1, 5), seed=st.integers(0, 999))
def test_the_positive_comes_first_and_2b_minus_2_negatives_follow(size: int, seed: int) -> None:
    first, second = views(size, seed)
    rows = Candidates(first, second).dense()
    assert rows.shape == (2 * size, 2 * size - 1)
    z = [*first, *second]
    for i in range(2 * size):
        partner = (i + size) % (2 * size)
        assert rows[i, 0].item() == pytest.approx((z[i] * z[partner]).sum().item())
        expected = sorted((z[i] * z[k]).sum().item() for k in range(2 * size) if k not in (i, partner))
        assert sorted(rows[i, 1:].tolist()) == pytest.approx(expected)


def test_overflowing_logits_stay_finite() -> None:
    s = torch.tensor([[-1.0, 1.0], [1.0, -1.0]], requires_grad=True)
    value = nt_xent(s / 0.005)
    value.backward()
    assert value.item() == pytest.approx(200)
    assert s.grad is not None
    assert torch.isfinite(s.grad).all()


@given(size=st.integers(1, 5), seed=st.integers(0, 999))
def test_the_shape_that_blocks_are_counted_by_is_that_of_the_candidates(size: int, seed: int) -> None:
    matrix = Candidates(*views(size, seed))
    assert matrix.shape == tuple(matrix.dense().shape) == (2 * size, 2 * size - 1)
    torch.testing.assert_close(matrix.matches(), matrix.dense()[:, 0])
