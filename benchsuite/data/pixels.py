"""From stored bytes to what the image tower takes: cropping, mirroring, light, normalisation, on a whole batch."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample


def to_unit(pictures: NDArray[np.uint8]) -> Tensor:
    """uint8 [n, H, W, 3] to float [n, 3, H, W] in [0, 1], in channels-last memory."""
    return torch.tensor(pictures).permute(0, 3, 1, 2).float().div_(255)


def augment(pixels: Tensor, crops: NDArray[np.float32]) -> Tensor:
    """Apply `crop_parameters`, before normalisation; values stay in [0, 1]."""
    x, y, half, mirror, brightness, contrast = torch.from_numpy(crops).to(pixels).unbind(1)
    zero = torch.zeros_like(half)
    window = torch.stack([torch.stack([half * mirror, zero, x], 1), torch.stack([zero, half, y], 1)], 1)
    grid = affine_grid(window, list(pixels.shape), align_corners=False)
    cropped = grid_sample(pixels, grid, padding_mode="border", align_corners=False)
    mean = cropped.mean(dim=(1, 2, 3), keepdim=True)
    lit = (cropped - mean) * contrast[:, None, None, None] + mean
    return (lit * brightness[:, None, None, None]).clamp_(0, 1)


def standardize(pixels: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """(pixels - mean) / std for each channel."""
    shape = (1, 3, 1, 1)
    return (pixels - pixels.new_tensor(mean).view(shape)) / pixels.new_tensor(std).view(shape)
