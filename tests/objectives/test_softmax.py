import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.objectives.pairwise import similarities
from benchsuite.objectives.softmax import cross_entropy_rows

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)


def matrix(size: int, seed: int, scale: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return scale * (2 * torch.rand(size, size, generator=generator, dtype=torch.float64) - 1)


def naive_cross_entropy(logits: list[list[float]]) -> float:
    total = 0.0
    for i, row in enumerate(logits):
        total -= math.log(math.exp(row[i]) / sum(math.exp(value) for value in row))
    return total / len(logits)


def naive_cross_entropy_gradient(logits: list[list[float]]) -> list[list[float]]:
    gradient = []
    for i, row in enumerate(logits):
        partition = sum(math.exp(value) for value in row)
        gradient.append([(math.exp(v) / partition - (i == j)) / len(logits) for j, v in enumerate(row)])
    return gradient


@given(SIZES, SEEDS)
def test_cross_entropy_matches_the_naive_twin_in_value_and_gradient(size: int, seed: int) -> None:
    logits = matrix(size, seed, scale=5).requires_grad_()
    value = cross_entropy_rows(logits)
    value.backward()
    assert value.item() == pytest.approx(naive_cross_entropy(logits.tolist()), abs=1e-8)
    naive = torch.tensor(naive_cross_entropy_gradient(logits.tolist()), dtype=torch.float64)
    torch.testing.assert_close(logits.grad, naive, atol=1e-8, rtol=0)


def test_overflowing_logits_stay_finite() -> None:
    logits = torch.tensor([[-400.0, 400.0], [400.0, -400.0]], requires_grad=True)
    value = cross_entropy_rows(logits)
    value.backward()
    assert value.item() == 800.0
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


def test_a_queue_of_past_keys_adds_columns() -> None:
    query, key, past = (torch.randn(n, 3, generator=torch.Generator().manual_seed(n)) for n in (5, 5, 4))
    logits = similarities(query, torch.cat([key, past]))
    with sized(Sizes(whole=0, rows=2)):
        found = cross_entropy_rows(logits / 0.2)
    dense = torch.cat([query @ key.T, query @ past.T], 1) / 0.2
    torch.testing.assert_close(found, torch.nn.functional.cross_entropy(dense, torch.arange(5)))
