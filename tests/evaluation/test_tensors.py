"""Arrays of callers and datasets, also those that are read-only, as Arrow and memory maps give them."""

import numpy as np
import torch

from benchsuite.evaluation.base import tensor_of


def test_an_array_is_copied_and_a_tensor_is_not() -> None:
    array, tensor = np.zeros(2), torch.zeros(2)
    array.flags.writeable = False  # torch warns of sharing such a one
    tensor_of(array)[0] = 1
    assert array.tolist() == [0, 0]
    assert tensor_of(tensor) is tensor
    assert tensor_of([1, 2], torch.float64).dtype == torch.float64
