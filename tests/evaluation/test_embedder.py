from typing import cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from benchsuite.data.base import Split
from benchsuite.evaluation.base import Embedder
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.sides import TrainedSides
from benchsuite.models.tokenizer import Tokens, Words
from benchsuite.tower_settings import ImageTower


class Towers(nn.Module):
    """Embeds a picture as its mean colour and a text as its first letter and length."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.drop = nn.Dropout(0.5)
        self.pictures = 0
        self.largest = 0

    def image(self, pixels: Tensor, features: bool = False) -> Tensor:
        if features:
            return pixels.flatten(1)
        self.pictures += len(pixels)
        self.largest = max(self.largest, pixels[:, ..., 0, 0, 0].numel())
        if pixels.dim() == 5:
            pixels = pixels.mean(1)
        return cast(Tensor, self.drop(self.scale * pixels.mean(dim=(2, 3))))

    def text(self, tokens: Tokens, features: bool = False) -> Tensor:
        return self.scale * torch.stack([tokens.ids[:, 0].float(), tokens.mask.sum(1).float()], 1)


def letters(texts: list[str], max_tokens: int) -> list[list[int]]:
    return [[ord(letter) for letter in text][:max_tokens] for text in texts]


@pytest.fixture
def towers() -> Towers:
    return Towers()


@pytest.fixture
def embed(towers: Towers) -> Embedder:
    tower = ImageTower(timm="none", mean=(0.0, 0.0, 0.0), std=(1.0, 0.5, 0.25))
    return Embedder(
        TrainedSides(cast(DualEncoder, towers), Words(letters, 9, {str(i): i for i in range(128)}), tower), batch=2
    )


def split(name: str = "test") -> Split:
    images = np.random.default_rng(0).integers(1, 256, (5, 2, 2, 3), dtype=np.uint8)
    return Split(name, images, [["x"]] * 5)


def test_texts_keep_their_order(embed: Embedder) -> None:
    texts = ["cccc", "a", "bbbbbb", "d", "ee"]
    expected = normalize(torch.tensor([[float(ord(text[0])), len(text)] for text in texts]), dim=-1)
    assert torch.allclose(embed.texts(texts), expected)


def test_pictures_are_standardised_and_in_order(embed: Embedder) -> None:
    colours = torch.tensor(split().images / 255).mean(dim=(1, 2)).float() / torch.tensor([1.0, 0.5, 0.25])
    assert torch.allclose(embed.images(split()), normalize(colours, dim=-1), atol=1e-6)


def test_pictures_are_encoded_once(embed: Embedder, towers: Towers) -> None:
    assert torch.equal(embed.images(split()), embed.images(split()))
    assert towers.pictures == 5


def test_features_are_kept_apart_from_embeddings(embed: Embedder) -> None:
    assert embed.images(split(), features=True).shape == (5, 12)
    assert embed.images(split()).shape == (5, 3)


def test_embedding_uses_evaluation_mode_and_builds_no_graph(embed: Embedder, towers: Towers) -> None:
    towers.drop.p = 1.0
    found = embed.images(split())
    assert found.norm(dim=-1).allclose(torch.ones(5))
    assert not found.requires_grad


def test_clips_are_embedded_in_order_and_no_more_frames_at_a_time_than_pictures(towers: Towers) -> None:
    films = np.random.default_rng(0).integers(1, 256, (5, 3, 2, 2, 3), dtype=np.uint8)
    tower = ImageTower(timm="none", frames="mean", mean=(0.0, 0.0, 0.0), std=(1.0, 0.5, 0.25))
    embed = Embedder(TrainedSides(cast(DualEncoder, towers), None, tower), batch=6)
    colours = torch.tensor(films / 255).mean(dim=(1, 2, 3)).float() / torch.tensor([1.0, 0.5, 0.25])
    assert torch.allclose(embed.images(Split("test", films, [["x"]] * 5)), normalize(colours, dim=-1), atol=1e-6)
    assert (towers.pictures, towers.largest) == (5, 6)
