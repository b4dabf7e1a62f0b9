"""Tensors of what callers and datasets hand in."""

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor


def tensor_of(values: ArrayLike | Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """The values as a tensor. Arrays are copied: many that data sets hold are read-only, which tensors cannot be."""
    return values.to(dtype=dtype) if isinstance(values, Tensor) else torch.tensor(np.asarray(values), dtype=dtype)
