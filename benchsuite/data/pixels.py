"""From stored bytes to what the image tower takes: crop, mirror, light, colour, normalisation, a batch at a time."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample


def to_unit(pictures: NDArray[np.uint8]) -> Tensor:
    """uint8 [n, (T,) H, W, 3] to float [n, (T,) 3, H, W] in [0, 1], in channels-last memory."""
    return torch.tensor(pictures).movedim(-1, -3).float().div_(255)


def augment(pixels: Tensor, looks: NDArray[np.float32]) -> Tensor:
    """Apply `look_parameters`, before normalisation; values stay in [0, 1]. All frames of a clip look alike."""
    if pixels.dim() == 5:  # frames side by side as channels of one picture
        return augment(pixels.flatten(1, 2), looks).reshape(pixels.shape)
    x, y, half, mirror, brightness, contrast, saturation, hue = torch.from_numpy(looks).to(pixels).unbind(1)
    zero = torch.zeros_like(half)
    window = torch.stack([torch.stack([half * mirror, zero, x], 1), torch.stack([zero, half, y], 1)], 1)
    grid = affine_grid(window, list(pixels.shape), align_corners=False)
    seen = grid_sample(pixels, grid, padding_mode="border", align_corners=False)
    seen = scaled_about(seen, seen.mean(dim=(1, 2, 3), keepdim=True), contrast)
    if bool((saturation != 1).any()) or bool((hue != 0).any()):
        seen = recoloured(seen, saturation, hue)
    return (seen * brightness.view(-1, 1, 1, 1)).clamp_(0, 1)


def scaled_about(pixels: Tensor, centre: Tensor, factor: Tensor) -> Tensor:
    """Stretch values away from a centre by a factor for each picture."""
    return (pixels - centre) * factor.view(-1, 1, 1, 1) + centre


def recoloured(pixels: Tensor, saturation: Tensor, hue: Tensor) -> Tensor:
    """Scale and turn the two colour coordinates of YIQ, where luma stays as it is: one matrix a picture."""
    to_yiq = pixels.new_tensor(YIQ)
    angle = 2 * torch.pi * hue
    c, s = saturation * angle.cos(), saturation * angle.sin()
    one, zero = torch.ones_like(c), torch.zeros_like(c)
    rows = (torch.stack([one, zero, zero], 1), torch.stack([zero, c, -s], 1), torch.stack([zero, s, c], 1))
    turn = torch.linalg.inv(to_yiq) @ torch.stack(rows, 1) @ to_yiq
    frames = pixels.reshape(-1, 3, *pixels.shape[2:])
    turns = turn.repeat_interleave(len(frames) // len(pixels), dim=0)
    return torch.einsum("ncd,ndhw->nchw", turns, frames).reshape(pixels.shape)


YIQ = ((0.299, 0.587, 0.114), (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))
"""RGB to luma and two colour coordinates (NTSC)."""


def standardize(pixels: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """(pixels - mean) / std for each channel."""
    shape = (1, 3, 1, 1)
    return (pixels - pixels.new_tensor(mean).view(shape)) / pixels.new_tensor(std).view(shape)
