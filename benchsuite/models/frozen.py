"""Frozen encoders by name: timm's for images, transformers' for texts, and both sides of CLIP-like models.

Weights come from the hub or a local folder, as safetensors or by torch's `weights_only` loader; no pickled code is run.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import interpolate

from benchsuite.data.base import Split
from benchsuite.data.embeddings.pretrained import fastest
from benchsuite.data.pixels import standardize, to_unit
from benchsuite.data.readers.embedded import Encoder
from benchsuite.errors import UsageError, did_you_mean
from benchsuite.models.dual_encoder import weights_digest
from benchsuite.models.tokenizer import Words, words_for
from benchsuite.models.towers import TextEncoder, first_line
from benchsuite.setup import Data, TextTower
from benchsuite.torchvision_ops import make_importable

MOST_TOKENS = 128
VOCABULARY = 2000
"""Of the tokenizer of a text encoder with random weights."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
LIBRARIES = ("timm", "transformers")


@dataclass(frozen=True)
class Asked:
    """`LIBRARY:NAME?key=value&key=value`, taken apart."""

    library: str
    name: str
    options: dict[str, Any]
    trained: bool

    @property
    def shown(self) -> str:
        """As it is stored: a local folder by its last name, as paths identify nothing."""
        name = Path(self.name).name if Path(self.name).is_dir() else self.name
        options = "&".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.library}:{name}{'?' * bool(options)}{options}"

    def refused(self, error: Exception) -> UsageError:
        """Why the encoder cannot be had, and what can be done."""
        folder = {"timm": "config.json and model.safetensors", "transformers": "what save_pretrained writes"}
        remedy = (
            ""
            if not self.trained
            else (
                f" Give a local folder with {folder[self.library]} ({self.library}:FOLDER), or --untrained for random "
                "weights, whose features say nothing."
            )
        )
        return UsageError(f'encoder "{self.shown}": it cannot be loaded ({first_line(error)}).{remedy}')


def asked(text: str, library: str, untrained: bool) -> Asked:
    """What an option of the command line asks for; `library` is meant where none is named."""
    given, colon, rest = text.partition(":")
    if colon and given in LIBRARIES:
        library, text = given, rest
    elif library == "timm":
        raise UsageError(f'--image "{text}": write timm:NAME, timm:FOLDER or transformers:NAME.')
    name, _, query = text.partition("?")
    options = {key: _value(value) for key, value in parse_qsl(query)}
    trained = not untrained and options.pop("pretrained", True) is not False
    options.pop("pretrained", None)
    return Asked(library, name, options, trained)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


class FrozenImages:
    """Images uint8 [n, H, W, 3] to float32 [n, D]."""

    def __init__(self, asked: Asked) -> None:
        make_importable()
        self._asked = asked
        self._body, cfg = _timm(asked) if asked.library == "timm" else _clip_images(asked)
        self.size: int = cfg["size"]
        self._mean, self._std = cfg["mean"], cfg["std"]
        self._body = self._body.eval().to(fastest())
        self.about = _about(asked, self._body)

    @torch.inference_mode()
    def __call__(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        pixels = to_unit(images).to(fastest())
        if pixels.shape[-1] != self.size:
            pixels = interpolate(pixels, size=self.size, mode="bicubic", antialias=True).clamp_(0, 1)
        out = self._body(standardize(pixels, self._mean, self._std))
        return np.asarray(out.float().cpu().numpy())


class FrozenTexts:
    """Texts to float32 [n, D]."""

    def __init__(self, asked: Asked, data: Data, train: Split) -> None:
        make_importable()
        self._asked = asked
        self._words, body = _texts(asked, data, train)
        self._body = body.eval().to(fastest())
        self.about = _about(asked, self._body)

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        out = self._body(self._words(texts).to(fastest()))
        return np.asarray(out.float().cpu().numpy())


def _about(asked: Asked, body: nn.Module) -> Encoder:
    library = f"{asked.library} {version(asked.library)}"
    return Encoder(name=asked.shown, library=library, weights=weights_digest(body), trained=asked.trained)


def _timm(asked: Asked) -> tuple[nn.Module, dict[str, Any]]:
    import timm

    options = dict(asked.options)
    side = options.pop("size", None)
    folder = Path(asked.name)
    if not folder.is_dir() and not timm.is_model(asked.name):
        hint = did_you_mean(asked.name, timm.list_models())
        raise UsageError(f'--image "{asked.shown}": timm has no such model, and there is no such folder.{hint}')
    try:
        if folder.is_dir():
            model = _timm_folder(asked, folder, options)
        else:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                model = timm.create_model(asked.name, pretrained=asked.trained, num_classes=0, **options)
    except UsageError:
        raise
    except Exception as error:  # the hub and each model refuse in their own ways
        raise asked.refused(error) from error
    cfg = timm.data.resolve_model_data_config(model)
    return model, {"size": int(side or cfg["input_size"][-1]), "mean": cfg["mean"], "std": cfg["std"]}


def _timm_folder(asked: Asked, folder: Path, options: dict[str, Any]) -> nn.Module:
    """A model from a folder in timm's layout on the hub: config.json with the architecture, and weights."""
    import timm

    config = json.loads((folder / "config.json").read_text("utf-8"))
    classes = int(config.get("num_classes", 1000))
    overlay = {
        key: value for key, value in config.get("pretrained_cfg", {}).items() if key in ("mean", "std", "input_size")
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model: nn.Module = timm.create_model(
            config["architecture"], num_classes=classes, pretrained_cfg_overlay=overlay, **options
        )
    if asked.trained:
        model.load_state_dict(_weights(folder))
    model.reset_classifier(0)  # type: ignore[operator]
    return model


def _weights(folder: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    for name in WEIGHTS:
        if (folder / name).is_file():
            if name.endswith(".safetensors"):
                return load_file(folder / name)
            state: dict[str, Tensor] = torch.load(folder / name, map_location="cpu", weights_only=True)
            return state
    raise UsageError(f"{folder}: none of {', '.join(WEIGHTS)} is there.")


class _Side(nn.Module):
    """One side of a CLIP-like model of transformers, with its projection."""

    def __init__(self, model: Any, side: str) -> None:
        super().__init__()
        self.model, self._side = model, side

    def forward(self, inputs: Any) -> Tensor:
        if self._side == "image":
            out = self.model.get_image_features(pixel_values=inputs)
        else:
            out = self.model.get_text_features(input_ids=inputs.ids, attention_mask=inputs.mask)
        return out if isinstance(out, Tensor) else out.pooler_output  # a tensor before transformers 5


def _clip_images(asked: Asked) -> tuple[nn.Module, dict[str, Any]]:
    from transformers import AutoConfig, AutoModel
    from transformers.image_processing_base import ImageProcessingMixin

    _require_trained(asked, "--image")
    try:
        config = AutoConfig.from_pretrained(asked.name)
        if not hasattr(config, "vision_config"):
            raise UsageError(f'--image "{asked.shown}": not a model of images and texts, such as CLIP. Use timm:NAME.')
        shown, _ = ImageProcessingMixin.get_image_processor_dict(asked.name)
        model = AutoModel.from_pretrained(asked.name)
    except UsageError:
        raise
    except Exception as error:
        raise asked.refused(error) from error
    size = int(config.vision_config.image_size)
    return _Side(model, "image"), {"size": size, "mean": shown["image_mean"], "std": shown["image_std"]}


def _texts(asked: Asked, data: Data, train: Split) -> tuple[Words, nn.Module]:
    options = dict(asked.options)
    pool, most = options.pop("pool", "mean"), options.pop("max_tokens", None)
    if not asked.trained:
        vocabulary = options.pop("vocabulary", VOCABULARY)
        tower = TextTower(
            transformer=asked.name, config=options, pool=pool, max_tokens=most or 30, vocabulary=vocabulary
        )
        words = words_for(tower, data, train)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return words, TextEncoder(tower, words.size)
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    try:
        config, tokenizer = AutoConfig.from_pretrained(asked.name), AutoTokenizer.from_pretrained(asked.name)
        own = getattr(config, "text_config", config)
        longest = min(tokenizer.model_max_length, getattr(own, "max_position_embeddings", MOST_TOKENS), MOST_TOKENS)
        tower = TextTower(
            transformer=asked.name, config=options, pretrained=True, pool=pool, max_tokens=most or longest
        )
        if hasattr(config, "vision_config"):
            body: nn.Module = _Side(AutoModel.from_pretrained(asked.name), "text")
        else:
            body = TextEncoder(tower, 0)
        return words_for(tower, data, train), body
    except Exception as error:
        raise asked.refused(error) from error


def _require_trained(asked: Asked, option: str) -> None:
    if not asked.trained:
        raise UsageError(f'{option} "{asked.shown}": random weights are for timm models and text encoders alone.')
