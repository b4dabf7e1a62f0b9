"""A side of a pretrained model of images and texts as a tower, and which part of a tower is trained."""

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from benchsuite.errors import UsageError
from benchsuite.models.asked import LIBRARIES, Asked, asked
from benchsuite.models.clip_models import (
    ClipModel,
    Projected,
    Side,
    blank_model,
    clip_model,
    clip_words,
    example,
    side_of,
)
from benchsuite.models.tokenizer import Words
from benchsuite.models.towers import TextEncoder, weights_digest
from benchsuite.tower_settings import TIMM, LoRA, TextTower, Tower


def opened(name: str) -> tuple[Asked, ClipModel, str]:
    """The model of that name, and a digest of its weights."""
    found = _opened(name)
    if isinstance(found, UsageError):
        raise found
    return found


@lru_cache(maxsize=2)
def _opened(name: str) -> tuple[Asked, ClipModel, str] | UsageError:
    """Or why there is none: each row asks, and a hub that does not answer takes half a minute."""
    try:
        wanted = asked(name, "", untrained=False, option="model")
        if wanted.library not in LIBRARIES or not wanted.trained:
            known = "transformers:NAME, open_clip:NAME or, of images alone, timm:NAME"
            raise UsageError(f'model "{name}": write {known}; NAME may be a folder.')
        if (found := clip_model(wanted)) is None:
            raise UsageError(f'model "{wanted.shown}": not a model of images and texts, such as CLIP.')
        return wanted, found, weights_digest(found.model)
    except UsageError as error:
        return error


@lru_cache(maxsize=2)
def text_folder(tower: str) -> dict[str, Any]:
    """What the folder of a pretrained text tower says of itself; the tower as JSON."""
    with torch.random.fork_rng(devices=[]):
        encoder = TextEncoder(TextTower.model_validate_json(tower), 0)
    return {"transformer": encoder.body.config.model_type, "weights": encoder.weights}


def words_of(tower: TextTower, folder: str = "") -> Words:
    """The tokenizer of its model, or the same from a folder."""
    return clip_words(Asked(tower.library, folder, {}, True) if folder else opened(tower.place or tower.model)[0])


def pretrained_side(tower: Tower, side: Side, config: Mapping[str, Any] | None = None) -> Projected:
    """Its own side of the model; with `config`, of the same model without its weights.

    What the output does not depend on, such as the logit scale, is not trained.
    """
    if config is None:
        _, (model, _, config), weights = opened(tower.place or tower.model)
        if tower.weights not in (None, weights):
            raise UsageError(f'{side} tower "{tower.model}": its weights have changed since the run was planned.')
    else:
        model = blank_model(tower.library, config)
    # parts for images are called vision or visual in both libraries
    parts = {name: part for name, part in {**model._modules, **model._parameters}.items() if part is not None}
    others = [part for name, part in parts.items() if name[:5] != "logit" and (name[:3] == "vis") == (side == "text")]
    others = [] if tower.library == TIMM else others
    own = copy.deepcopy(side_of(tower.library, model, side), {id(part): None for part in others})
    own.library, own.config, own.kept = tower.library, config, tower.keeps_projection
    parameters = [*own.parameters()]
    with torch.enable_grad():
        out = own.eval()(example(config, side))
        used = torch.autograd.grad(out.sum(), parameters, allow_unused=True)
    for parameter, gradient in zip(parameters, used, strict=True):
        parameter.requires_grad_(gradient is not None)
    own.width = int(out.shape[-1])
    return own


def choose_trained(tower: nn.Module, settings: Tower, what: str) -> None:
    """Freeze what the settings do not train; for LoRA, add what is trained instead."""
    match settings.train.split():
        case ["none"]:
            tower.requires_grad_(False)
        case ["last", number]:
            _freeze_first(tower, int(number), what)
        case ["lora"]:
            _add_lora(tower, settings.lora, what)


BEFORE_BLOCKS = ("embed", "conv1", "ln_pre", "pre_layrnorm", "cls_token", "stem", "patch", "norm_pre")
"""In names of parameters outside of the blocks: what comes before them."""


def _freeze_first(tower: nn.Module, count: int, what: str) -> None:
    """All blocks but the last ones, and what comes before the blocks."""
    lists = [
        (name, part)
        for name, part in tower.named_modules()
        if isinstance(part, nn.ModuleList | nn.Sequential) and len(part)
        if all(any("att" in child for child, _ in block.named_children()) for block in part)
    ]
    if not lists:
        raise UsageError(f'{what}: train = "last {count}" is for transformers, and it has no list of attention blocks.')
    place, blocks = max(lists, key=lambda item: len(item[1]))
    if count > len(blocks):
        raise UsageError(f'{what}: train = "last {count}", but it has {len(blocks)} blocks.')
    blocks[: len(blocks) - count].requires_grad_(False)
    for name, parameter in tower.named_parameters():
        if not name.startswith(f"{place}.") and any(part in name for part in BEFORE_BLOCKS):
            parameter.requires_grad_(False)


def _add_lora(tower: nn.Module, settings: LoRA, what: str) -> None:
    """Low-rank updates of the layers that the settings name; nothing else is trained."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError as error:
        raise UsageError(f'{what}: train = "lora" needs peft: pip install "benchsuite[lora]"') from error
    layers = {name.rpartition(".")[2] for name, part in tower.named_modules() if type(part) is nn.Linear}
    if missing := [name for name in settings.targets if name not in layers]:
        known = ", ".join(sorted(layers)) or "none"
        raise UsageError(f"{what}: LoRA: no linear layer is called {', '.join(missing)} (its linear layers: {known}).")
    tower.requires_grad_(False)
    config = LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=[*settings.targets])  # type: ignore[arg-type]
    inject_adapter_in_model(config, tower)


def merge_lora(module: nn.Module) -> nn.Module:
    """A copy whose updated layers are plain ones; the module itself if there are none."""
    if not any(hasattr(part, "lora_A") for part in module.modules()):
        return module
    made = copy.deepcopy(module)
    for part in [*made.modules()]:
        for name, layer in [*part.named_children()]:
            if hasattr(layer, "lora_A"):
                layer.merge()  # type: ignore[operator]
                setattr(part, name, layer.get_base_layer())  # type: ignore[operator]
    return made
