"""What released code of the SogCLR family divides by, beside s = u exp(-b) and its epsilon written out."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from benchsuite.objectives.global_estimator import ReleasedEpsilon

INDEX = torch.tensor([3, 0, 5])
U = torch.tensor([[0.5, 2.0, 1e-9], [0.25, 1.0, 3e-9]], dtype=torch.float64)
B = torch.tensor([[1.0, 4.0, 12.0], [2.0, 3.0, 11.0]], dtype=torch.float64)
SIZE = torch.tensor([7.0, 8.0, 9.0], dtype=torch.float64)


def asked(release: Any, highest: Tensor = B, **more: Any) -> tuple[Tensor, Tensor]:
    """u as it is read, and what it is divided by."""
    read, divisor = ReleasedEpsilon(6, release)(U.log(), highest, SIZE, INDEX, **more)
    return read.exp(), divisor.exp()


@pytest.mark.parametrize(("release", "epsilon"), [("isogclr", 1e-10), ("amclr", 1e-8)])
def test_the_epsilon_is_added_to_the_scaled_average(release: Any, epsilon: float) -> None:
    """s + epsilon, times exp(b): both contrasts of a sample have its largest exponent."""
    read, divisor = asked(release)
    scale = torch.tensor([2.0, 4.0, 12.0], dtype=torch.float64)
    torch.testing.assert_close(read, U)
    s = U * (-scale).exp()
    torch.testing.assert_close(divisor, (s + epsilon) * scale.exp(), rtol=1e-12, atol=0)


def test_tempnet_keeps_the_sum_over_candidates_from_falling_below_a_limit() -> None:
    read, divisor = asked("tempnet")
    least = 1e-14 / SIZE * torch.tensor([2.0, 4.0, 12.0], dtype=torch.float64).exp()
    torch.testing.assert_close(read, torch.maximum(U, least), rtol=1e-12, atol=0)
    torch.testing.assert_close(divisor, read)
    torch.testing.assert_close(read[:, :2], U[:, :2])


def test_the_limit_of_tempnet_is_reached_by_large_exponents() -> None:
    high = torch.full((2, 3), 40.0, dtype=torch.float64)
    read, _ = asked("tempnet", high)
    torch.testing.assert_close(read, (1e-14 / SIZE * math.exp(40.0)).expand(2, 3), rtol=1e-12, atol=0)


def test_in_turn_the_first_contrast_does_not_know_the_second() -> None:
    _, divisor = asked("amclr", in_turn=True)
    scales = torch.tensor([[1.0, 4.0, 12.0], [2.0, 4.0, 12.0]], dtype=torch.float64)
    torch.testing.assert_close(divisor, U + 1e-8 * scales.exp(), rtol=1e-12, atol=0)


def test_the_largest_exponent_of_a_sample_is_remembered_and_of_no_other() -> None:
    epsilon = ReleasedEpsilon(6, "amclr")
    epsilon(U.log(), B, SIZE, INDEX)
    assert epsilon.highest.tolist() == [4.0, 0.0, 0.0, 2.0, 0.0, 12.0]
    _, divisor = epsilon(U.log(), torch.zeros_like(B), SIZE, INDEX)
    remembered = torch.tensor([2.0, 4.0, 12.0], dtype=torch.float64)
    torch.testing.assert_close(divisor.exp(), U + 1e-8 * remembered.exp(), rtol=1e-12, atol=0)
    assert epsilon.highest.tolist() == [4.0, 0.0, 0.0, 2.0, 0.0, 12.0]


def test_exponents_below_zero_count_as_zero() -> None:
    """Released code begins at 0."""
    _, divisor = asked("amclr", torch.full((2, 3), -5.0, dtype=torch.float64))
    torch.testing.assert_close(divisor, U + 1e-8, rtol=1e-12, atol=0)


def test_evaluation_writes_nothing() -> None:
    epsilon = ReleasedEpsilon(6, "isogclr").eval()
    epsilon(U.log(), B, SIZE, INDEX)
    assert not epsilon.highest.any()


def test_a_sample_met_twice_has_the_larger_exponent_of_both() -> None:
    epsilon = ReleasedEpsilon(6, "amclr")
    _, divisor = epsilon(U.log(), B, SIZE, torch.tensor([3, 3, 5]))
    scale = torch.tensor([4.0, 4.0, 12.0], dtype=torch.float64)
    torch.testing.assert_close(divisor.exp(), U + 1e-8 * scale.exp(), rtol=1e-12, atol=0)


def test_single_precision_is_computed_in_double_and_given_back_in_single() -> None:
    read, divisor = ReleasedEpsilon(6, "amclr")(U.log().float(), B.float(), SIZE, INDEX)
    assert read.dtype == divisor.dtype == torch.float32
    _, exact = ReleasedEpsilon(6, "amclr")(U.log().float().double(), B, SIZE, INDEX)
    assert torch.equal(divisor, exact.float())
