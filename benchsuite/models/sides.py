"""What embeds pictures and texts: trained towers, or other people's models."""

from abc import ABC, abstractmethod
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate, normalize

from benchsuite.data.base import Texts
from benchsuite.data.pixels import rendering, standardize, to_unit
from benchsuite.errors import UsageError
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.tokenizer import Words
from benchsuite.tower_settings import ImageTower


class Sides(ABC):
    """Images and texts to L2-normalised rows on the processor; one side may be missing."""

    @abstractmethod
    def pictures(self, pictures: NDArray[Any], features: bool = False) -> Tensor:
        """[n, D] of uint8 [n, H, W, 3], clips or vectors. With `features`, the tower's output before the projection."""

    @abstractmethod
    def texts(self, texts: Texts, features: bool = False) -> Tensor:
        """[n, D]."""


class TrainedSides(Sides):
    """The towers of a run, in eval mode."""

    def __init__(
        self, encoder: DualEncoder, words: Words | None, tower: ImageTower | None, shape: tuple[int, ...] = ()
    ) -> None:
        """Pictures of another size than `shape`, if it is given, are resized."""
        self.encoder, self._words, self._tower, self._shape = encoder.eval(), words, tower, shape
        self._device = next(encoder.parameters()).device

    @torch.inference_mode()
    def pictures(self, pictures: NDArray[Any], features: bool = False) -> Tensor:
        if self._tower is None:
            raise UsageError("this setup has no image tower, so no picture can be embedded.")
        if self._tower.mlp:
            pixels = rendering(pictures, 0).to(self._device)
        else:
            pixels = resized(to_unit(pictures).to(self._device), self._shape)
            pixels = standardize(pixels, self._tower.mean, self._tower.std)
        return normalize(self.encoder.image(pixels, features).float(), dim=-1).cpu()

    @torch.inference_mode()
    def texts(self, texts: Texts, features: bool = False) -> Tensor:
        if self._words is None:
            raise UsageError("this setup has no text tower, so no text can be embedded.")
        tokens = self._words(texts).to(self._device)
        return normalize(self.encoder.text(tokens, features).float(), dim=-1).cpu()


def resized(pixels: Tensor, shape: tuple[int, ...]) -> Tensor:
    """[n, (T,) 3, H, W] in [0, 1] at the height and width of `shape` ([..., H, W, 3]), if it is given and another."""
    if not shape or tuple(pixels.shape[-2:]) == (size := (int(shape[-3]), int(shape[-2]))):
        return pixels
    frames = pixels.flatten(0, -4)
    made = interpolate(frames, size=size, mode="bicubic", antialias=True).clamp_(0, 1)
    return made.reshape(*pixels.shape[:-2], *size)
