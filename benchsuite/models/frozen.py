"""Frozen encoders by name: timm's for images, transformers' for texts, and both sides of models like CLIP, of
transformers and open_clip.

Weights come from the hub or a local folder, as safetensors or by torch's `weights_only` loader; no pickled code is run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchsuite.data.base import Split
from benchsuite.data.embeddings.pretrained import fastest
from benchsuite.data.pixels import standardize, to_unit
from benchsuite.data.readers.embedded import Encoder
from benchsuite.errors import UsageError, did_you_mean, first_line
from benchsuite.models.clip_models import (
    OpenClipSide,
    Preprocessing,
    Projected,
    TransformersSide,
    TransformersWords,
    open_clip_model,
    open_clip_words,
    transformers_model,
)
from benchsuite.models.dual_encoder import weights_digest
from benchsuite.models.sides import resized
from benchsuite.models.tokenizer import Words, pretrained_words, words_for
from benchsuite.models.towers import TextEncoder
from benchsuite.setup import Data, TextTower
from benchsuite.torchvision_ops import make_importable

MOST_TOKENS = 128
VOCABULARY = 2000
"""Of the tokenizer of a text encoder with random weights."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
LIBRARIES = {"timm": "timm", "transformers": "transformers", "open_clip": "open_clip_torch"}
"""And the packages that they are in."""
FOLDERS = {
    "timm": "config.json and model.safetensors",
    "transformers": "what save_pretrained writes",
    "open_clip": "open_clip_config.json and open_clip_model.safetensors",
}


@dataclass(frozen=True)
class Asked:
    """`LIBRARY:NAME?key=value&key=value`, taken apart."""

    library: str
    name: str
    options: dict[str, Any]
    trained: bool
    option: str = "--image"
    """Of the command line, for messages; "model" where it is the argument."""

    @property
    def shown(self) -> str:
        """As it is stored: a local folder by its last name, as paths identify nothing."""
        name = Path(self.name).name if Path(self.name).is_dir() else self.name
        given = {key: _last(value) for key, value in self.options.items()}
        options = "&".join(f"{key}={value}" for key, value in given.items())
        return f"{self.library}:{name}{'?' * bool(options)}{options}"

    def refused(self, error: Exception) -> UsageError:
        """Why the encoder cannot be had, and what can be done."""
        untrained = ", or --untrained for random weights, whose features say nothing" * (self.option != "model")
        remedy = f" Give a local folder with {FOLDERS[self.library]} ({self.library}:FOLDER){untrained}." * self.trained
        return UsageError(f'encoder "{self.shown}": it cannot be loaded ({first_line(error)}).{remedy}')


@contextmanager
def refusing(asked: Asked) -> Iterator[None]:
    """What goes wrong inside is told as a refusal of the encoder: the hub and each model fail in their own ways."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        raise asked.refused(error) from error


def asked(text: str, library: str, untrained: bool, option: str = "--image") -> Asked:
    """What the command line asks for; `library` is meant where none is named."""
    given, colon, rest = text.partition(":")
    if colon and given in LIBRARIES:
        library, text = given, rest
    elif library == "timm":
        raise UsageError(f'--image "{text}": write timm:NAME, timm:FOLDER or transformers:NAME.')
    name, _, query = text.partition("?")
    options = {key: _value(value) for key, value in parse_qsl(query)}
    trained = not untrained and options.get("pretrained", True) is not False
    if library != "open_clip":  # where it names the weights
        options.pop("pretrained", None)
    return Asked(library, name, options, trained, option)


def _last(value: Any) -> Any:
    """Of a path its last name."""
    return Path(value).name if isinstance(value, str) and Path(value).is_file() else value


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
        self._body, self._pictures = _timm(asked) if asked.library == "timm" else _clip_images(asked)
        self.size, self.fit = self._pictures.size, self._pictures.fit
        self._body = self._body.eval().to(fastest())
        self.about = _about(asked, self._body)

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
        self._asked = asked
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


def _timm(asked: Asked) -> tuple[nn.Module, Preprocessing]:
    import timm

    options = dict(asked.options)
    side, weights = options.pop("size", None), options.pop("weights", None)
    folder = Path(asked.name)
    if not folder.is_dir() and not timm.is_model(asked.name):
        hint = did_you_mean(asked.name, timm.list_models())
        raise UsageError(f'{asked.option} "{asked.shown}": timm has no such model, and there is no such folder.{hint}')
    with refusing(asked), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if folder.is_dir():
            model = _timm_folder(asked, folder, options)
        else:
            hub = asked.trained and not weights
            model = timm.create_model(asked.name, pretrained=hub, num_classes=None if weights else 0, **options)
        if weights and asked.trained:
            load_in_order(model, torch.load(weights, map_location="cpu", weights_only=True))
            model.reset_classifier(0)  # type: ignore[operator]
    cfg = timm.data.resolve_model_data_config(model)
    return model, Preprocessing(int(side or cfg["input_size"][-1]), cfg["mean"], cfg["std"])


def _timm_folder(asked: Asked, folder: Path, options: dict[str, Any]) -> nn.Module:
    """A model from a folder in timm's layout on the hub: config.json with the architecture, and weights."""
    import timm

    config = json.loads((folder / "config.json").read_text("utf-8"))
    classes = int(config.get("num_classes", 1000))
    overlay = {
        key: value for key, value in config.get("pretrained_cfg", {}).items() if key in ("mean", "std", "input_size")
    }
    model: nn.Module = timm.create_model(
        config["architecture"], num_classes=classes, pretrained_cfg_overlay=overlay, **options
    )
    if asked.trained:
        model.load_state_dict(_weights(folder))
    model.reset_classifier(0)  # type: ignore[operator]
    return model


def load_in_order(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Weights of the same layers in the same order, whatever another library calls them."""
    own, given = ({n: t for n, t in each.items() if "num_batches" not in n} for each in (model.state_dict(), state))
    if [tensor.shape for tensor in own.values()] != [tensor.shape for tensor in given.values()]:
        raise UsageError("the weights have other layers, or have them in another order")
    model.load_state_dict(dict(zip(own, given.values(), strict=True)), strict=False)


def _weights(folder: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    for name in WEIGHTS:
        if (folder / name).is_file():
            if name.endswith(".safetensors"):
                return load_file(folder / name)
            state: dict[str, Tensor] = torch.load(folder / name, map_location="cpu", weights_only=True)
            return state
    raise UsageError(f"{folder}: none of {', '.join(WEIGHTS)} is there.")


def _clip_images(asked: Asked) -> tuple[nn.Module, Preprocessing]:
    _require_trained(asked)
    with refusing(asked):
        if asked.library == "open_clip":
            model, about = open_clip_model(asked.name, asked.options.get("pretrained"))
            return OpenClipSide(model, "image"), about
        if (found := transformers_model(asked.name)) is None:
            raise UsageError(f'--image "{asked.shown}": not a model of images and texts, such as CLIP. Use timm:NAME.')
        return TransformersSide(found[0], "image"), found[1]


def _texts(asked: Asked, data: Data | None, train: Split | None) -> tuple[Words, nn.Module]:
    options = dict(asked.options)
    pool, most = options.pop("pool", "mean"), options.pop("max_tokens", None)
    if asked.library == "open_clip":
        _require_trained(asked)
        with refusing(asked):
            model, _ = open_clip_model(asked.name, options.get("pretrained"))
            return open_clip_words(asked.name), OpenClipSide(model, "text")
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
    from transformers import AutoConfig, AutoTokenizer

    with refusing(asked):
        config = AutoConfig.from_pretrained(asked.name)
        own = getattr(config, "text_config", config)
        longest = min(getattr(own, "max_position_embeddings", MOST_TOKENS), MOST_TOKENS)
        if found := transformers_model(asked.name):
            words = TransformersWords(asked.name, most or longest, config.model_type)
            return words, TransformersSide(found[0], "text")
        longest = min(AutoTokenizer.from_pretrained(asked.name).model_max_length, longest)
        tower = TextTower(
            transformer=asked.name, config=options, pretrained=True, pool=pool, max_tokens=most or longest
        )
        return pretrained_words(tower), TextEncoder(tower, 0)


def _require_trained(asked: Asked) -> None:
    if not asked.trained:
        raise UsageError(f'{asked.option} "{asked.shown}": random weights are for timm models and text encoders alone.')
