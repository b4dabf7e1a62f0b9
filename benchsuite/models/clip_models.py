"""Models of images and texts from open_clip and transformers: each side, with and without its projection; timm's.

No pickled code is run: weights are safetensors, or loaded with `weights_only`.
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from benchsuite.data.readers.images import Fit
from benchsuite.errors import UsageError, did_you_mean
from benchsuite.models.asked import Asked, other_architecture, refusing
from benchsuite.models.timm_models import blank_timm, timm_model
from benchsuite.models.tokenizer import Tokens, Words, plain_config, tokenizer_files
from benchsuite.parts import NOTHING
from benchsuite.torchvision_ops import make_importable

Side = Literal["image", "text"]
INSTALL = "pip install open-clip-torch"
CONFIGS = {"transformers": "config.json", "open_clip": "open_clip_config.json"}
"""The file of a folder that says what the model is, and how its tokenizer works."""
MOST_TOKENS = 128


class Preprocessing(NamedTuple):
    """What a model's pictures are."""

    size: int
    mean: Sequence[float]
    std: Sequence[float]
    fit: Fit = "crop"


class ClipModel(NamedTuple):
    """A model of images and texts, shared by all that ask for it: copy what is to be changed."""

    model: Any
    pictures: Preprocessing
    config: dict[str, Any]
    """All that it takes to make it again with other weights, as plain data without a path."""

    @property
    def max_tokens(self) -> int:
        return int(example(self.config, "text").ids.shape[1])

    @property
    def width(self) -> int:
        """Of projected embeddings."""
        own = self.config.get("model_cfg", self.config)
        return int(own.get("embed_dim") or own.get("projection_dim") or own["vision_config"]["hidden_size"])


def example(config: Mapping[str, Any], side: Side) -> Any:
    """Zeros of the shape that the model of a configuration takes."""
    if "architecture" in config:  # timm's
        return torch.zeros(1, *config["pretrained_cfg"]["input_size"])
    sizes = config.get("model_cfg", config)
    vision, text = (sizes.get(f"{name}_config") or sizes.get(f"{name}_cfg") for name in ("vision", "text"))
    if side == "image":
        size = vision["image_size"]
        return torch.zeros(1, 3, *((size, size) if isinstance(size, int) else size))
    length = text.get("context_length") or text.get("max_position_embeddings", 77)
    ids = torch.zeros(1, min(length, MOST_TOKENS), dtype=torch.long)
    return Tokens(ids, torch.ones_like(ids))


def clip_model(asked: Asked) -> ClipModel | None:
    """The model of that name; None for a model of transformers that is of texts alone."""
    make_importable()
    with refusing(asked):
        if asked.library == "timm":
            model, size, config = timm_model(asked)
            return ClipModel(
                model, Preprocessing(size, *(config["pretrained_cfg"][key] for key in ("mean", "std"))), config
            )
        if asked.library == "open_clip":
            return open_clip_model(asked.name, asked.options.get("pretrained"))
        return transformers_model(asked.name)


def clip_words(asked: Asked, most: int | None = None) -> Words:
    """The tokenizer of such a model."""
    with refusing(asked):
        if asked.library != "open_clip":
            return TransformersWords(asked.name, most)
        place = f"local-dir:{Path(asked.name).resolve()}" if Path(asked.name).is_dir() else asked.name
        return OpenClipWords(import_open_clip().get_tokenizer(place))


def side_of(library: str, model: Any, side: Side) -> "Projected":
    """One side of the model."""
    kinds: dict[str, type[Any]] = {"open_clip": OpenClipSide, "transformers": TransformersSide, "timm": TimmSide}
    made: Projected = kinds[library](model, side)
    return made


def blank_model(library: str, config: Mapping[str, Any]) -> Any:
    """The model of a configuration, whose weights are still to be loaded."""
    make_importable()
    if library == "timm":
        return blank_timm(config)
    if library == "transformers":
        from transformers import CONFIG_MAPPING, AutoModel

        own = CONFIG_MAPPING[config["model_type"]].from_dict(dict(config))
        return AutoModel.from_config(own, dtype=torch.float32)
    open_clip = import_open_clip()
    with TemporaryDirectory() as folder:
        (Path(folder) / CONFIGS["open_clip"]).write_text(json.dumps(config), "utf-8")
        before = logging.root.manager.disable
        logging.disable(logging.WARNING)  # that no weights were loaded: they are, afterwards
        try:
            return open_clip.create_model(f"local-dir:{folder}", load_weights=False, pretrained_text=False)
        finally:
            logging.disable(before)


class Projected(nn.Module, ABC):
    """One side of a model with a projection into the shared space."""

    library, config, width = "", NOTHING, 0
    """Of a tower that is trained: what its model is, and how wide its output."""
    kept = True
    """Whether it projects."""

    def __init__(self, model: Any, side: Side) -> None:
        super().__init__()
        self.model, self._side = model, side

    def forward(self, inputs: Any) -> Tensor:
        return self.projected(inputs) if self.kept else self.before_projection(inputs)

    @abstractmethod
    def projected(self, inputs: Any) -> Tensor:
        """In the shared space."""

    @abstractmethod
    def before_projection(self, inputs: Any) -> Tensor:
        """The tower's own output; that of `projected` where there is no projection."""


class TransformersSide(Projected):
    """One side of a CLIP-like model of transformers."""

    def projected(self, inputs: Any) -> Tensor:
        return _tensor(getattr(self.model, f"get_{self._side}_features")(**self._named(inputs)))

    def before_projection(self, inputs: Any) -> Tensor:
        tower = getattr(self.model, "vision_model" if self._side == "image" else "text_model", None)
        return self.projected(inputs) if tower is None else _tensor(tower(**self._named(inputs)))

    def _named(self, inputs: Any) -> dict[str, Tensor]:
        if self._side == "image":
            return {"pixel_values": inputs}
        return {"input_ids": inputs.ids, "attention_mask": inputs.mask}


class TimmSide(Projected):
    """A timm model, which has no projection to keep."""

    def projected(self, inputs: Any) -> Tensor:
        out: Tensor = self.model(inputs)
        return out

    before_projection = projected


def _tensor(out: Any) -> Tensor:
    tensor: Tensor = out if isinstance(out, Tensor) else out.pooler_output  # a tensor before transformers 5
    return tensor


class TransformersWords(Words):
    """A CLIP-like model's tokenizer, which pads as the model was trained: SigLIP to its full length, without a mask."""

    def __init__(self, name: str, most: int | None = None) -> None:
        """Texts are cut at as many tokens as the model has positions for, or at `most`."""
        from transformers import AutoConfig, AutoTokenizer

        self._own, config = AutoTokenizer.from_pretrained(name), AutoConfig.from_pretrained(name)
        self._full = config.model_type.startswith("siglip") or "attention_mask" not in self._own.model_input_names
        longest = min(getattr(config.text_config, "max_position_embeddings", MOST_TOKENS), MOST_TOKENS)
        most = min(most or longest, self._own.model_max_length)
        super().__init__(None, most, self._own.get_vocab(), lambda: tokenizer_files(self._own))

    def __call__(self, texts: Any) -> Tokens:
        padding = "max_length" if self._full else True
        made = self._own(
            list(texts), padding=padding, truncation=True, max_length=self._max_tokens, return_tensors="pt"
        )
        ids = made["input_ids"]
        return Tokens(ids, torch.ones_like(ids) if self._full else made["attention_mask"])


class OpenClipSide(Projected):
    """One side of an open_clip model."""

    def projected(self, inputs: Any) -> Tensor:
        out: Tensor = self.model.encode_image(inputs) if self._side == "image" else self.model.encode_text(inputs.ids)
        return out

    def before_projection(self, inputs: Any) -> Tensor:
        owner, name = self._projection()
        if name == "trunk":
            out: Tensor = owner.trunk(inputs)
            return out if out.dim() == 2 else self.projected(inputs)  # some pool after the trunk
        with _without(owner, name):
            return self.projected(inputs)

    def _projection(self) -> tuple[Any, str]:
        """The module that has the side's projection, and its name there."""
        if self._side == "image":
            visual = self.model.visual
            return visual, "trunk" if hasattr(visual, "trunk") else "proj"
        text = getattr(self.model, "text", self.model)
        return text, "text_projection" if hasattr(text, "text_projection") else "proj"


@contextmanager
def _without(owner: Any, name: str) -> Iterator[None]:
    """The module without its projection: a parameter is skipped if it is none, a layer `proj` is always called."""
    part = getattr(owner, name, None)
    if part is None:  # as in a ResNet, whose pooling projects
        yield
        return
    setattr(owner, name, nn.Identity() if name == "proj" and isinstance(part, nn.Module) else None)
    try:
        yield
    finally:
        setattr(owner, name, part)


class OpenClipWords(Words):
    """An open_clip model's tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self._own = tokenizer
        if of_hub := getattr(tokenizer, "tokenizer", None):  # transformers' inside of open_clip's
            super().__init__(None, 0, of_hub.get_vocab(), lambda: tokenizer_files(of_hub))
        else:
            super().__init__(None, 0, tokenizer.encoder)

    def __call__(self, texts: Any) -> Tokens:
        ids = self._own(list(texts))
        return Tokens(ids, torch.ones_like(ids))


@lru_cache(maxsize=2)
def open_clip_model(name: str, pretrained: str | None) -> ClipModel:
    """A model by name and tag, or from a folder in open_clip's layout on the hub."""
    open_clip = import_open_clip()
    folder = Path(name).is_dir()
    if not folder and not name.startswith("hf-hub:"):
        _require_known(open_clip, name, pretrained)
    place = f"local-dir:{Path(name).resolve()}" if folder else name
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        try:
            model = open_clip.create_model(
                place, pretrained=None if folder else pretrained, require_pretrained=True, weights_only=True
            )
        except RuntimeError as error:
            raise other_architecture(Path(name).name, error) from error
    about = open_clip.get_model_preprocess_cfg(model)
    if (mode := about.get("resize_mode", "shortest")) not in FITS:
        raise UsageError(f'open_clip:{name}: its pictures are resized by "{mode}", which no dataset here does.')
    size = about["size"]
    side = int(size if isinstance(size, int) else size[0])
    config = {"model_cfg": open_clip.get_model_config(place), "preprocess_cfg": about}
    return ClipModel(model, Preprocessing(side, about["mean"], about["std"], FITS[mode]), config)


FITS: dict[str, Fit] = {"shortest": "crop", "squash": "squash"}
"""open_clip's names of how a picture becomes a square."""


def import_open_clip() -> Any:
    """The library, which is optional."""
    make_importable()
    try:
        import open_clip
    except ImportError as error:
        raise UsageError(f"open_clip is not installed, or cannot be imported ({error}). {INSTALL}") from error
    return open_clip


def _require_known(open_clip: Any, name: str, pretrained: str | None) -> None:
    if name not in open_clip.list_models():
        hint = did_you_mean(name, open_clip.list_models())
        raise UsageError(f'"open_clip:{name}": open_clip has no such model, and there is no such folder.{hint}')
    tags = open_clip.list_pretrained_tags_by_model(name)
    if pretrained is None:
        known = f" (known: {', '.join(tags)})" if tags else ""
        raise UsageError(f'"open_clip:{name}": say which weights: open_clip:{name}?pretrained=TAG{known}, or a folder.')
    if pretrained not in tags and not Path(pretrained).is_file():
        hint = did_you_mean(pretrained, tags)
        raise UsageError(f'"open_clip:{name}": no weights "{pretrained}" (known: {", ".join(tags) or "none"}).{hint}')


@lru_cache(maxsize=2)
def transformers_model(name: str) -> ClipModel | None:
    """A CLIP-like model of transformers and what its pictures are; None for a model of texts alone."""
    from transformers import AutoConfig, AutoModel
    from transformers.image_processing_base import ImageProcessingMixin

    config = AutoConfig.from_pretrained(name)
    if not hasattr(config, "vision_config"):
        return None
    shown, _ = ImageProcessingMixin.get_image_processor_dict(name)
    size, sized = int(config.vision_config.image_size), shown.get("size")
    squashed = isinstance(sized, dict) and "height" in sized and not shown.get("do_center_crop")
    about = Preprocessing(size, shown["image_mean"], shown["image_std"], "squash" if squashed else "crop")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model, loaded = AutoModel.from_pretrained(
            name, dtype=torch.float32, output_loading_info=True, ignore_mismatched_sizes=True
        )
    wrong = [*(key for key, *_ in loaded["mismatched_keys"]), *sorted(loaded["missing_keys"])]
    if wrong:
        raise other_architecture(Path(name).name, [*wrong, *sorted(loaded["unexpected_keys"])])
    return ClipModel(model, about, plain_config(config))
