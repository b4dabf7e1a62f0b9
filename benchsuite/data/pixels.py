"""From stored images to the input of the image tower: crop, mirror, brightness, colour, normalisation, by batch."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import grid_sample


def to_unit(images: NDArray[np.uint8] | Tensor) -> Tensor:
    """uint8 [n, (T,) H, W, 3] to float [n, (T,) 3, H, W] in [0, 1], in channels-last memory, on the device they are on.

    The divisor is a tensor there: a GPU would multiply by the inverse of a plain number, which rounds differently.
    """
    stored = images if isinstance(images, Tensor) else torch.tensor(images)
    return stored.movedim(-1, -3).float().div_(torch.full((), 255.0, device=stored.device))


def rendering(vectors: NDArray[np.float32], number: NDArray[np.int64] | int) -> Tensor:
    """[n, D]: of images given as vectors, [n, V, D], one rendering each."""
    return torch.from_numpy(np.asarray(vectors[np.arange(len(vectors)), number], np.float32))


Numbers = Tensor | NDArray[np.float32]


def augmented_rendering(vectors: Numbers, parameters: Numbers) -> Tensor:
    """The same as drawn for a training step: `vector_parameters` applied, on the vectors' device."""
    vectors = torch.as_tensor(vectors)
    parameters = torch.as_tensor(parameters).to(vectors.device)
    chosen = vectors[torch.arange(len(vectors), device=vectors.device), parameters[:, 0].long()].float()
    if parameters.shape[1] == 1:
        return chosen
    factor, addend = parameters[:, 1:].chunk(2, dim=1)
    return torch.addcmul(addend, chosen, factor)


def augment(pixels: Tensor, parameters: Numbers) -> Tensor:
    """Apply `augmentation_parameters`, before normalisation; values stay in [0, 1]. Frames of a clip get the same."""
    if pixels.dim() == 5:  # frames side by side as channels of one image
        return augment(pixels.flatten(1, 2), parameters).reshape(pixels.shape)
    given = torch.as_tensor(parameters)
    *_, saturation, hue = given.unbind(1)
    recolours = bool((saturation != 1).any() or (hue != 0).any())  # asked where they are: a GPU would wait
    x, y, half, mirror, brightness, contrast, saturation, hue = given.to(pixels, non_blocking=True).unbind(1)
    height, width = pixels.shape[-2:]
    columns, rows = window(half * mirror, x, width), window(half, y, height)
    shape = len(columns), height, width
    grid = torch.stack([columns[:, None].expand(shape), rows[:, :, None].expand(shape)], dim=-1)  # [n, H, W, 2]
    cropped = grid_sample(pixels, grid, padding_mode="border", align_corners=False)
    grey = cropped.mean(dim=(1, 2, 3), keepdim=True)
    coloured = cropped.sub_(grey).mul_(contrast.view(-1, 1, 1, 1)).add_(grey)
    if recolours:
        coloured = recoloured(coloured, saturation, hue)
    return coloured.mul_(brightness.view(-1, 1, 1, 1)).clamp_(0, 1)


def window(half: Tensor, centre: Tensor, size: int) -> Tensor:
    """[n, size]: where a window's pixels have their middles; the picture's edges are at -1 and 1.

    Along one side what `affine_grid` gives for both; that multiplies matrices, which takes longer than the sampling.
    """
    return half[:, None] * _middles(size, half.dtype, half.device) + centre[:, None]


@cache
def _middles(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Of pixels, the picture's edges being at -1 and 1. Copied once: each copy would wait for the GPU."""
    edges = torch.linspace(-1, 1, size) if size > 1 else torch.zeros(1)
    return (edges * (size - 1) / size).to(device, dtype)


@cache
def _constant(values: tuple[Any, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Copied once, as well."""
    return torch.tensor(values, dtype=dtype, device=device)


def recoloured(pixels: Tensor, saturation: Tensor, hue: Tensor) -> Tensor:
    """Scale and rotate the two colour coordinates of YIQ, luma unchanged: one matrix for each image."""
    to_yiq = _constant(YIQ, pixels.dtype, pixels.device)
    angle = 2 * torch.pi * hue
    c, s = saturation * angle.cos(), saturation * angle.sin()
    ones, zero = torch.ones_like(c), torch.zeros_like(c)
    rows = (torch.stack([ones, zero, zero], 1), torch.stack([zero, c, -s], 1), torch.stack([zero, s, c], 1))
    matrix = torch.linalg.inv(to_yiq) @ torch.stack(rows, 1) @ to_yiq
    frames = pixels.reshape(-1, 3, *pixels.shape[2:])
    matrices = matrix.repeat_interleave(len(frames) // len(pixels), dim=0)
    return torch.einsum("ncd,ndhw->nchw", matrices, frames).reshape(pixels.shape)


YIQ = ((0.299, 0.587, 0.114), (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))
"""RGB to luma and two colour coordinates (NTSC)."""


def standardize(pixels: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """(pixels - mean) / std for each channel."""
    centre, scale = (_constant(tuple(each), pixels.dtype, pixels.device).view(1, 3, 1, 1) for each in (mean, std))
    return (pixels - centre).div_(scale)
