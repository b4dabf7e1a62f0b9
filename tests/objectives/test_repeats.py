import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.objectives.global_estimator import Repeats

SAMPLES = st.lists(st.integers(0, 5), min_size=1, max_size=8)
SEEDS = st.integers(0, 2**32 - 1)


@given(SAMPLES, SEEDS)
def test_a_sample_met_twice_has_the_values_of_both(samples: list[int], seed: int) -> None:
    values = torch.randn(2, len(samples), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    repeats = Repeats(torch.tensor(samples))
    mean, log_mean, largest = repeats.mean(values[0]), repeats.log_mean(values[0]), repeats.largest(values)
    for i, sample in enumerate(samples):
        own = [values[0, j].item() for j, other in enumerate(samples) if other == sample]
        assert mean[i].item() == pytest.approx(sum(own) / len(own))
        assert log_mean[i].item() == pytest.approx(math.log(sum(map(math.exp, own)) / len(own)))
        for k in range(2):
            assert largest[k, i] == max(values[k, j].item() for j, other in enumerate(samples) if other == sample)


def test_a_sample_met_once_keeps_its_value_to_the_last_bit() -> None:
    values = torch.randn(50, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 100
    repeats = Repeats(torch.randperm(50, generator=torch.Generator().manual_seed(1)))
    for found in (repeats.mean(values), repeats.log_mean(values), repeats.largest(values)):
        assert torch.equal(found, values)


def test_logarithms_of_zero() -> None:
    nothing = -math.inf
    found = Repeats(torch.tensor([3, 1, 3, 1])).log_mean(torch.tensor([nothing, nothing, 0.0, nothing]))
    assert found.tolist() == pytest.approx([-math.log(2), nothing, -math.log(2), nothing])
