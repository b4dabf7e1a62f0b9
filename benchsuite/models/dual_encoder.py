"""Two towers and a linear projection each, into one space."""

import hashlib

import torch
from torch import Tensor, nn

from benchsuite.models.tokenizer import Tokens
from benchsuite.models.towers import ImageEncoder, TextEncoder
from benchsuite.setup import Setup
from benchsuite.streams import derived_seed


class DualEncoder(nn.Module):
    """Pictures and texts to raw (not normalised) embeddings of the same width."""

    def __init__(self, setup: Setup, vocabulary: int) -> None:
        super().__init__()
        self.image_tower = ImageEncoder(setup.image)
        self.text_tower = TextEncoder(setup.text, vocabulary)
        self.image_projection = nn.Linear(self.image_tower.width, setup.projection, bias=False)
        self.text_projection = nn.Linear(self.text_tower.width, setup.projection, bias=False)

    def image(self, pixels: Tensor) -> Tensor:
        """[n, 3, H, W] to [n, projection]."""
        out: Tensor = self.image_projection(self.image_tower(pixels))
        return out

    def text(self, tokens: Tokens) -> Tensor:
        """[n, L] to [n, projection]."""
        out: Tensor = self.text_projection(self.text_tower(tokens))
        return out


def seeded_encoder(setup: Setup, vocabulary: int, seed: int) -> DualEncoder:
    """An encoder whose random initial weights depend on the setup and the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "weights"))
        return DualEncoder(setup, vocabulary)


def weights_digest(model: nn.Module) -> str:
    """A digest of all parameters and buffers."""
    sha = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        sha.update(name.encode())
        sha.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()[:16]
