"""Two towers and a projection each, into one space; or one tower alone."""

import hashlib
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from benchsuite.models.tokenizer import Tokens
from benchsuite.models.towers import TextEncoder
from benchsuite.models.vectors import VectorEncoder
from benchsuite.models.video import image_encoder
from benchsuite.setup import Projection, Setup
from benchsuite.streams import derived_seed


class DualEncoder(nn.Module):
    """Images and texts to raw (not normalised) embeddings of the same width; with one tower, only one of them."""

    def __init__(
        self, setup: Setup, vocabulary: int, image_inputs: int = 0, text_config: Mapping[str, Any] | None = None
    ) -> None:
        """`text_config` stands for a pretrained text tower's weights: they are loaded later."""
        super().__init__()
        if setup.image:
            mlp = setup.image.mlp
            self.image_tower = VectorEncoder(mlp, image_inputs) if mlp else image_encoder(setup.image)
            self.image_projection = projection(self.image_tower.width, setup.projection)
        if setup.text:
            mlp = setup.text.mlp
            self.text_tower = (
                VectorEncoder(mlp, vocabulary) if mlp else TextEncoder(setup.text, vocabulary, text_config)
            )
            self.text_projection = projection(self.text_tower.width, setup.projection)

    def image_features(self, pixels: Tensor) -> Tensor:
        """[n, 3, H, W], or clips [n, T, 3, H, W], to the output of the tower, before the projection."""
        out: Tensor = self.image_tower(pixels)
        return out

    def text_features(self, tokens: Tokens | Tensor) -> Tensor:
        """[n, L] to the output of the tower, before the projection."""
        out: Tensor = self.text_tower(tokens)
        return out

    def image(self, pixels: Tensor) -> Tensor:
        """[n, 3, H, W], or clips [n, T, 3, H, W], to [n, width]."""
        out: Tensor = self.image_projection(self.image_features(pixels))
        return out

    def text(self, tokens: Tokens | Tensor) -> Tensor:
        """[n, L] to [n, width]."""
        out: Tensor = self.text_projection(self.text_features(tokens))
        return out


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


def weights_digest(model: nn.Module) -> str:
    """A digest of all parameters and buffers."""
    sha = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        sha.update(name.encode())
        sha.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()[:16]
