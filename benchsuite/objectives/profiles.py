"""Temperatures as functions of a pair's cosine, element by element."""

import math

import torch
from torch import Tensor


def cosine_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low + 1/2 (high - low)(1 + cos(pi (1 + s))): low at s = 0, high at s = -1 and 1."""
    return low + 0.5 * (high - low) * (1 + torch.cos(math.pi * (1 + s)))


def linear_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low + (high - low) |s|."""
    return low + (high - low) * s.abs()


def exponential_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low (high / low)^|s|: the temperature grows by the same ratio with each step away from 0."""
    return low * torch.exp(math.log(high / low) * s.abs())


def monotone_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low + 1/2 (high - low)(1 - cos(pi (1 + s) / 2)): half a cosine wave from low at s = -1 to high at s = 1."""
    return low + 0.5 * (high - low) * (1 - torch.cos(0.5 * math.pi * (1 + s)))


def shifted_profile(s: Tensor, low: float, high: float, shift: float, scale: float, one_sided: bool = False) -> Tensor:
    """low + 1/2 (high - low)(1 + cos(pi (shift + s) / scale)) on the side of -shift where 0 lies, high beyond it.

    The wave is at high where it begins, s = -shift, and at low `scale` away from there. With shift = 0 it covers both
    sides, or the left one alone if `one_sided`.
    """
    wave = low + 0.5 * (high - low) * (1 + torch.cos(math.pi / scale * (shift + s)))
    left, right = shift <= 0, shift > 0 or (shift == 0 and not one_sided)
    inside = (s <= -shift) & left | (s >= -shift) & right
    return torch.where(inside, wave, high)
