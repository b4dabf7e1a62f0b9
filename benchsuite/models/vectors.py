"""Towers on vectors: an MLP in place of an encoder, for datasets whose images and texts are vectors already."""

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from benchsuite.canonical import short_digest
from benchsuite.data.base import Split, Texts, Vectors
from benchsuite.errors import UsageError
from benchsuite.models.pretrained import words_of
from benchsuite.models.tokenizer import Words, words_for
from benchsuite.setup import Setup
from benchsuite.tower_settings import MLP


class VectorEncoder(nn.Module):
    """[n, inputs] to [n, width]."""

    def __init__(self, mlp: MLP, inputs: int) -> None:
        super().__init__()
        widths = [inputs, *[mlp.hidden] * mlp.layers]
        layers = [layer for pair in pairwise(widths) for layer in (nn.Linear(*pair), nn.ReLU())]
        self.body = nn.Sequential(*layers[:-1])
        self.width = mlp.hidden

    def forward(self, vectors: Tensor) -> Tensor:
        out: Tensor = self.body(vectors)
        return out


class VectorWords(Words):
    """Stands where a tokenizer stands: "texts" are vectors already."""

    def __init__(self, width: int) -> None:
        self.size = width
        self.files = dict
        self.digest = short_digest({"vectors": width})

    def __call__(self, texts: Texts | Vectors) -> Tensor:
        if isinstance(texts[0], str):
            raise UsageError(f'the text tower takes vectors; given the text "{texts[0]}". Use a dataset of vectors.')
        return torch.from_numpy(np.asarray(texts).astype(np.float32, copy=False))


def text_reader(setup: Setup, split: Split) -> Words | None:
    """The tokenizer of the text tower, or what stands for one where texts are vectors; none without a text tower."""
    if (tower := setup.text) is None:
        return None
    if tower.mlp:
        return VectorWords(np.shape(split.captions_for("a text tower")[0])[-1])
    return words_of(tower) if tower.model else words_for(tower, setup.data, split)
