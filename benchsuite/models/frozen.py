"""Frozen encoders by name: timm's for images, transformers' for texts, and both sides of models like CLIP, of
transformers and open_clip.

Weights come from the hub or a local folder, as safetensors or by torch's `weights_only` loader; no pickled code is run.
"""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from benchsuite.data.base import Split
from benchsuite.data.embeddings.encoders import fastest
from benchsuite.data.pixels import standardize, to_unit
from benchsuite.data.readers.embedded import Encoder
from benchsuite.errors import UsageError
from benchsuite.models.asked import LIBRARIES, Asked, refusing
from benchsuite.models.clip_models import MOST_TOKENS, Projected, clip_model, clip_words, side_of
from benchsuite.models.sides import resized
from benchsuite.models.tokenizer import Words, pretrained_words, words_for
from benchsuite.models.towers import TextEncoder, weights_digest
from benchsuite.setup import Data
from benchsuite.torchvision_ops import make_importable
from benchsuite.tower_settings import TextTower

VOCABULARY = 2000
"""Of the tokenizer of a text encoder with random weights."""


class FrozenImages:
    """Images uint8 [n, H, W, 3] to float32 [n, D]."""

    def __init__(self, asked: Asked) -> None:
        if asked.library != "timm":
            _require_trained(asked)
        if (found := clip_model(asked)) is None:
            what = "not a model of images and texts, such as CLIP. Use timm:NAME"
            raise UsageError(f'--image "{asked.shown}": {what}.')
        self._pictures = found.pictures
        self.size, self.fit = self._pictures.size, self._pictures.fit
        self._body = side_of(asked.library, found.model, "image").eval().to(fastest())
        self.about = _about(asked, found.model if asked.library == "timm" else self._body)

    @torch.inference_mode()
    def __call__(self, images: NDArray[np.uint8], features: bool = False) -> NDArray[np.float32]:
        """With `features`, before the projection, if there is one."""
        pixels = resized(to_unit(images).to(fastest()), (self.size, self.size, 3))
        return _encoded(self._body, standardize(pixels, self._pictures.mean, self._pictures.std), features)


class FrozenTexts:
    """Texts to float32 [n, D]."""

    def __init__(self, asked: Asked, data: Data | None = None, train: Split | None = None) -> None:
        """With data, whose captions train the tokenizer of an encoder with random weights."""
        make_importable()
        self._words, body = _texts(asked, data, train)
        self._body = body.eval().to(fastest())
        self.about = _about(asked, self._body)

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str], features: bool = False) -> NDArray[np.float32]:
        return _encoded(self._body, self._words(texts).to(fastest()), features)


def _encoded(body: nn.Module, inputs: Any, features: bool) -> NDArray[np.float32]:
    out = body.before_projection(inputs) if features and isinstance(body, Projected) else body(inputs)
    return np.asarray(out.float().cpu().numpy())


def _about(asked: Asked, body: nn.Module) -> Encoder:
    library = f"{asked.library} {version(LIBRARIES[asked.library])}"
    return Encoder(name=asked.shown, library=library, weights=weights_digest(body), trained=asked.trained)


def _texts(asked: Asked, data: Data | None, train: Split | None) -> tuple[Words, nn.Module]:
    options = dict(asked.options)
    pool, most = options.pop("pool", "mean"), options.pop("max_tokens", None)
    if asked.library == "open_clip":
        _require_trained(asked)
    if not asked.trained:
        if data is None or train is None:
            raise UsageError(f'"{asked.shown}": a text encoder with random weights needs captions for its tokenizer.')
        vocabulary = options.pop("vocabulary", VOCABULARY)
        tower = TextTower(
            transformer=asked.name, config=options, pool=pool, max_tokens=most or 30, vocabulary=vocabulary
        )
        words = words_for(tower, data, train)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return words, TextEncoder(tower, words.size)
    if found := clip_model(asked):
        return clip_words(asked, most), side_of(asked.library, found.model, "text")
    from transformers import AutoConfig, AutoTokenizer

    with refusing(asked):
        positions = getattr(AutoConfig.from_pretrained(asked.name), "max_position_embeddings", MOST_TOKENS)
        longest = min(AutoTokenizer.from_pretrained(asked.name).model_max_length, positions, MOST_TOKENS)
        tower = TextTower(
            transformer=asked.name, config=options, pretrained=True, pool=pool, max_tokens=most or longest
        )
        return pretrained_words(tower), TextEncoder(tower, 0)


def _require_trained(asked: Asked) -> None:
    if not asked.trained:
        raise UsageError(f'{asked.option} "{asked.shown}": random weights are for timm models and text encoders alone.')
