import sys

import numpy as np
import pytest
import torch
from torch import nn

from benchsuite.training.curves import Meter

MB = 2**20


@pytest.mark.skipif(sys.platform != "linux" or torch.cuda.is_available(), reason="reset on Linux's CPUs alone")
def test_the_peak_is_in_bytes_and_of_this_training_alone() -> None:
    before = np.ones(160 * MB, np.uint8)
    high = Meter().read(nn.Linear(1, 1), 1)["peak_memory_bytes"]
    del before
    low = Meter().read(nn.Linear(1, 1), 1)["peak_memory_bytes"]
    assert 150 * MB < high - low < 200 * MB


def test_only_what_is_trained_counts_as_trainable() -> None:
    model = nn.Linear(3, 2)
    model.bias.requires_grad_(False)
    assert Meter().read(model, 1)["trainable_parameters"] == 6


def test_times_add_up_and_of_memory_the_highest_counts() -> None:
    meter = Meter()
    alone = meter.read(nn.Linear(1, 1), 100)
    meter.add({"seconds": 1000.0, "cpu_seconds": 500.0, "peak_memory_bytes": 2**50})
    both = meter.read(nn.Linear(1, 1), 100)
    assert 1000 <= both["seconds"] < 1000 + 60 + alone["seconds"]
    assert 500 <= both["cpu_seconds"] < 500 + 60 + alone["cpu_seconds"]
    assert both["pairs_per_second"] == pytest.approx(0.1, rel=0.1)
    assert both["peak_memory_bytes"] == 2**50
    meter.add({"seconds": 0.0, "cpu_seconds": 0.0, "peak_memory_bytes": 1})
    assert meter.spent()["peak_memory_bytes"] == 2**50
