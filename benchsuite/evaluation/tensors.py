"""Arrays of callers and datasets as tensors."""

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor


def tensor_of(values: ArrayLike | Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """The values as a tensor. Arrays are copied, because tensors cannot be read-only."""
    return values.to(dtype=dtype) if isinstance(values, Tensor) else torch.tensor(np.asarray(values), dtype=dtype)
