import pytest
import torch
from torch import Tensor

from benchsuite.methods.gap_swap import hard_swap, soft_swap


def pair(grad: bool = False) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    rows = (torch.randn(5, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    image, text = (r.requires_grad_(grad) for r in rows)
    return image, text


def mask(share: float = 0.5) -> Tensor:
    return torch.rand(5, 4, generator=torch.Generator().manual_seed(1)) < share


def naive_soft(x: Tensor, y: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
    first, second = [], []
    for i in range(x.shape[0]):
        for d in range(x.shape[1]):
            first.append(kept[i, d] * x[i, d] + (1 - kept[i, d]) * y[i, d])
            second.append(kept[i, d] * y[i, d] + (1 - kept[i, d]) * x[i, d])
    return torch.stack(first).reshape(x.shape), torch.stack(second).reshape(x.shape)


def naive_hard(x: Tensor, y: Tensor, swapped: Tensor) -> tuple[Tensor, Tensor]:
    first, second = [], []
    for i in range(x.shape[0]):
        for d in range(x.shape[1]):
            first.append(y[i, d] if swapped[i, d] else x[i, d])
            second.append(x[i, d] if swapped[i, d] else y[i, d])
    return torch.stack(first).reshape(x.shape), torch.stack(second).reshape(x.shape)


def slopes(mixed: tuple[Tensor, Tensor], leaves: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    weight = torch.arange(20, dtype=torch.float64).reshape(5, 4)
    return torch.autograd.grad((mixed[0] * weight + mixed[1] * weight**2).sum(), leaves)


def test_soft_swap_matches_the_naive_twin_in_value_and_gradient() -> None:
    x, y = pair(grad=True)
    kept = torch.rand(5, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    ours, naive = soft_swap(x, y, kept), naive_soft(x, y, kept)
    for mine, twin in zip((*ours, *slopes(ours, (x, y))), (*naive, *slopes(naive, (x, y))), strict=True):
        torch.testing.assert_close(mine, twin, atol=1e-8, rtol=1e-8)


def test_hard_swap_matches_the_naive_twin_in_value_and_gradient() -> None:
    x, y = pair(grad=True)
    ours, naive = hard_swap(x, y, mask()), naive_hard(x, y, mask())
    for mine, twin in zip((*ours, *slopes(ours, (x, y))), (*naive, *slopes(naive, (x, y))), strict=True):
        torch.testing.assert_close(mine, twin, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_hard_swap_leaves_the_sum_unchanged(dtype: torch.dtype) -> None:
    x, y = (t.to(dtype) for t in pair())
    first, second = hard_swap(x, y, mask())
    assert first.dtype == dtype
    assert torch.equal(first + second, x + y)


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-15), (torch.float32, 1e-6), (torch.bfloat16, 6e-2)])
def test_soft_swap_leaves_the_sum_unchanged(dtype: torch.dtype, bound: float) -> None:
    x, y = (t.to(dtype) for t in pair())
    first, second = soft_swap(x, y, torch.rand(5, 4, generator=torch.Generator().manual_seed(3)).to(dtype))
    torch.testing.assert_close(first + second, x + y, atol=bound, rtol=bound)


def test_soft_swap_with_shares_of_zero_and_one_is_hard_swap() -> None:
    x, y = pair()
    for soft, hard in zip(soft_swap(x, y, (~mask()).double()), hard_swap(x, y, mask()), strict=True):
        assert torch.equal(soft, hard)


def test_a_column_of_decisions_swaps_whole_rows() -> None:
    x, y = pair()
    first, second = hard_swap(x, y, torch.tensor([True, False, True, False, False])[:, None])
    assert torch.equal(first, torch.stack([y[0], x[1], y[2], x[3], x[4]]))
    assert torch.equal(second, torch.stack([x[0], y[1], x[2], y[3], y[4]]))
