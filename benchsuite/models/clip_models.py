"""Models of images and texts from open_clip and transformers: each side, with and without its projection.

No pickled code is run: weights are safetensors, or loaded with `weights_only`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from benchsuite.data.readers.images import Fit
from benchsuite.errors import UsageError, did_you_mean
from benchsuite.models.tokenizer import Tokens, Words

Side = Literal["image", "text"]
INSTALL = "pip install open-clip-torch"


class Preprocessing(NamedTuple):
    """What a model's pictures are."""

    size: int
    mean: Sequence[float]
    std: Sequence[float]
    fit: Fit = "crop"


class Projected(nn.Module, ABC):
    """One side of a model with a projection into the shared space."""

    @abstractmethod
    def before_projection(self, inputs: Any) -> Tensor:
        """The tower's own output; that of `forward` where there is no projection."""


class TransformersSide(Projected):
    """One side of a CLIP-like model of transformers."""

    def __init__(self, model: Any, side: Side) -> None:
        super().__init__()
        self.model, self._side = model, side

    def forward(self, inputs: Any) -> Tensor:
        if self._side == "image":
            return _tensor(self.model.get_image_features(pixel_values=inputs))
        return _tensor(self.model.get_text_features(input_ids=inputs.ids, attention_mask=inputs.mask))

    def before_projection(self, inputs: Any) -> Tensor:
        tower = getattr(self.model, "vision_model" if self._side == "image" else "text_model", None)
        if tower is None:
            return self.forward(inputs)
        if self._side == "image":
            return _tensor(tower(pixel_values=inputs))
        return _tensor(tower(input_ids=inputs.ids, attention_mask=inputs.mask))


def _tensor(out: Any) -> Tensor:
    tensor: Tensor = out if isinstance(out, Tensor) else out.pooler_output  # a tensor before transformers 5
    return tensor


class TransformersWords(Words):
    """A CLIP-like model's tokenizer, which pads as the model was trained: SigLIP to its full length, without a mask."""

    def __init__(self, name: str, longest: int, kind: str) -> None:
        from transformers import AutoTokenizer

        self._own = AutoTokenizer.from_pretrained(name)
        self._full = kind.startswith("siglip") or "attention_mask" not in self._own.model_input_names
        super().__init__(None, min(longest, self._own.model_max_length), self._own.get_vocab())

    def __call__(self, texts: Any) -> Tokens:
        padding = "max_length" if self._full else True
        made = self._own(
            list(texts), padding=padding, truncation=True, max_length=self._max_tokens, return_tensors="pt"
        )
        ids = made["input_ids"]
        return Tokens(ids, torch.ones_like(ids) if self._full else made["attention_mask"])


class OpenClipSide(Projected):
    """One side of an open_clip model."""

    def __init__(self, model: Any, side: Side) -> None:
        super().__init__()
        self.model, self._side = model, side

    def forward(self, inputs: Any) -> Tensor:
        out: Tensor = self.model.encode_image(inputs) if self._side == "image" else self.model.encode_text(inputs.ids)
        return out

    def before_projection(self, inputs: Any) -> Tensor:
        owner, name = self._projection()
        if name == "trunk":
            out: Tensor = owner.trunk(inputs)
            return out if out.dim() == 2 else self.forward(inputs)  # some pool after the trunk
        with _without(owner, name):
            return self.forward(inputs)

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
        self.size, self.digest, self.files = int(getattr(tokenizer, "vocab_size", 0)), "", dict

    def __call__(self, texts: Any) -> Tokens:
        ids = self._own(list(texts))
        return Tokens(ids, torch.ones_like(ids))


@lru_cache(maxsize=1)
def open_clip_model(name: str, pretrained: str | None) -> tuple[nn.Module, Preprocessing]:
    """A model by name and tag, or from a folder in open_clip's layout on the hub."""
    open_clip = import_open_clip()
    folder = Path(name).is_dir()
    if not folder and not name.startswith("hf-hub:"):
        _require_known(open_clip, name, pretrained)
    place = f"local-dir:{Path(name).resolve()}" if folder else name
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = open_clip.create_model(
            place, pretrained=None if folder else pretrained, require_pretrained=True, weights_only=True
        )
    about = open_clip.get_model_preprocess_cfg(model)
    if (mode := about.get("resize_mode", "shortest")) not in FITS:
        raise UsageError(f'open_clip:{name}: its pictures are resized by "{mode}", which no dataset here does.')
    size = about["size"]
    side = int(size if isinstance(size, int) else size[0])
    return model, Preprocessing(side, about["mean"], about["std"], FITS[mode])


FITS: dict[str, Fit] = {"shortest": "crop", "squash": "squash"}
"""open_clip's names of how a picture becomes a square."""


def open_clip_words(name: str) -> OpenClipWords:
    """The tokenizer of a model by name, or from its folder."""
    place = f"local-dir:{Path(name).resolve()}" if Path(name).is_dir() else name
    return OpenClipWords(import_open_clip().get_tokenizer(place))


def import_open_clip() -> Any:
    """The library, which is optional."""
    try:
        import open_clip
    except ImportError as error:
        raise UsageError(f"open_clip is not installed, or cannot be imported ({error}). {INSTALL}") from error
    return open_clip


def _require_known(open_clip: Any, name: str, pretrained: str | None) -> None:
    if name not in open_clip.list_models():
        hint = did_you_mean(name, open_clip.list_models())
        raise UsageError(f'"open_clip:{name}": open_clip has no such model, and there is no such folder.{hint}')
    if pretrained is None:
        tags = open_clip.list_pretrained_tags_by_model(name)
        known = f" (known: {', '.join(tags)})" if tags else ""
        raise UsageError(f'"open_clip:{name}": say which weights: open_clip:{name}?pretrained=TAG{known}, or a folder.')
    tags = open_clip.list_pretrained_tags_by_model(name)
    if pretrained not in tags and not Path(pretrained).is_file():
        hint = did_you_mean(pretrained, tags)
        raise UsageError(f'"open_clip:{name}": no weights "{pretrained}" (known: {", ".join(tags) or "none"}).{hint}')


@lru_cache(maxsize=1)
def transformers_model(name: str) -> tuple[Any, Preprocessing] | None:
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
    return AutoModel.from_pretrained(name), about
