"""Two towers and a projection each, into one space; or one tower alone."""

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor, nn

from benchsuite.errors import UsageError
from benchsuite.models.clip_models import Projected, Side
from benchsuite.models.pretrained import choose_trained, pretrained_side
from benchsuite.models.tokenizer import Tokens
from benchsuite.models.towers import TextEncoder, image_encoder
from benchsuite.models.vectors import VectorEncoder
from benchsuite.parts import NOTHING
from benchsuite.setup import Projection, Setup
from benchsuite.streams import derived_seed
from benchsuite.tower_settings import Tower


class DualEncoder(nn.Module):
    """Images and texts to raw (not normalised) embeddings of the same width; with one tower, only one of them."""

    image_tower: nn.Module
    image_projection: nn.Module
    text_tower: nn.Module
    text_projection: nn.Module

    def __init__(
        self, setup: Setup, vocabulary: int, image_inputs: int = 0, configs: Mapping[Side, Any] = NOTHING
    ) -> None:
        """`configs` stand for the weights of pretrained towers: they are loaded later."""
        super().__init__()
        sides: dict[Side, tuple[Tower | None, int]] = {
            "image": (setup.image, image_inputs),
            "text": (setup.text, vocabulary),
        }
        towers = {side: (tower, inputs) for side, (tower, inputs) in sides.items() if tower}
        for side, (settings, inputs) in towers.items():
            tower = _tower(side, settings, inputs, configs.get(side))
            self.add_module(f"{side}_tower", tower)
            self.add_module(f"{side}_projection", _projection(tower, settings, setup.projection, side))
        self._frozen = [f"{side}_tower" for side, (settings, _) in towers.items() if settings.train == "none"]

    def train(self, mode: bool = True) -> Self:
        """What is frozen stays in eval mode: no dropout, no running statistics."""
        super().train(mode)
        for name in self._frozen:
            getattr(self, name).eval()
        return self

    def image(self, pixels: Tensor, features: bool = False) -> Tensor:
        """[n, 3, H, W], or clips [n, T, 3, H, W], to [n, width]. With `features`: before the projection."""
        tower = self.image_tower
        out: Tensor = _features(tower, pixels) if features else self.image_projection(tower(pixels))
        return out

    def text(self, tokens: Tokens | Tensor, features: bool = False) -> Tensor:
        """[n, L] to [n, width]. With `features`: before the projection."""
        tower = self.text_tower
        out: Tensor = _features(tower, tokens) if features else self.text_projection(tower(tokens))
        return out


def _features(tower: nn.Module, inputs: Any) -> Any:
    return tower.before_projection(inputs) if isinstance(tower, Projected) else tower(inputs)


def _tower(side: Side, settings: Any, inputs: int, config: Any) -> Any:
    if settings.mlp:
        return VectorEncoder(settings.mlp, inputs)
    if settings.model:
        return pretrained_side(settings, side, config)
    return image_encoder(settings) if side == "image" else TextEncoder(settings, inputs, config)


def _projection(tower: Any, settings: Tower, head: Projection, side: Side) -> nn.Module:
    """The projection of a tower, of which what is not to be trained is then frozen."""
    if (kept := settings.keeps_projection) and tower.width != head.width:
        raise UsageError(
            f"the {side} tower keeps its projection to {tower.width} dimensions, but embeddings have {head.width}: "
            'give it projection = "new", or the other one a model of the same width.'
        )
    choose_trained(tower, settings, f'{side} tower "{settings.model or side}"')
    return nn.Identity() if kept else projection(tower.width, head)


def projection(features: int, settings: Projection) -> nn.Module:
    """One linear layer, or two with batch norm between."""
    if settings.hidden is None:
        return nn.Linear(features, settings.width, bias=False)
    hidden = nn.Linear(features, settings.hidden, bias=False)
    return nn.Sequential(hidden, nn.BatchNorm1d(settings.hidden), nn.ReLU(), nn.Linear(settings.hidden, settings.width))


def seeded_encoder(setup: Setup, vocabulary: int, seed: int, image_inputs: int = 0) -> DualEncoder:
    """An encoder whose random initial weights depend on the setup and the seed alone.

    Towers on vectors have as many inputs as `vocabulary` and `image_inputs`.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "weights"))
        return DualEncoder(setup, vocabulary, image_inputs)
