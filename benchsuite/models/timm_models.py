"""timm's models without their classifiers: by name, or from a folder in timm's layout on the hub."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchsuite.errors import UsageError, did_you_mean
from benchsuite.models.asked import Asked, other_architecture

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
SHOWN = ("mean", "std", "input_size")
"""What a folder may say of its pictures otherwise than timm."""


def timm_model(asked: Asked) -> tuple[nn.Module, int, dict[str, Any]]:
    """The model, the side of its pictures, and all that it takes to make it again with other weights."""
    import timm

    options = dict(asked.options)
    side, weights = options.pop("size", None), options.pop("weights", None)
    folder = Path(asked.name)
    if not folder.is_dir() and not timm.is_model(asked.name):
        hint = did_you_mean(asked.name, timm.list_models())
        raise UsageError(f'{asked.option} "{asked.shown}": timm has no such model, and there is no such folder.{hint}')
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if folder.is_dir():
            about = json.loads((folder / "config.json").read_text("utf-8"))
            shown = {key: value for key, value in about.get("pretrained_cfg", {}).items() if key in SHOWN}
            options = {**about.get("model_args", {}), **options}
            model = _made(about["architecture"], shown, options, num_classes=int(about.get("num_classes", 1000)))
            if asked.trained:
                _load(model, folder)
        else:
            about, shown = {"architecture": asked.name}, {}
            hub = asked.trained and not weights
            model = _made(asked.name, shown, options, pretrained=hub, num_classes=None if weights else 0)
            if weights and asked.trained:
                load_in_order(model, torch.load(weights, map_location="cpu", weights_only=True))
        model.reset_classifier(0)  # type: ignore[operator]
    cfg = timm.data.resolve_model_data_config(model)
    shown = {key: cfg[key] for key in SHOWN}
    config = {"architecture": about["architecture"], "pretrained_cfg": shown, "model_args": options}
    return model, int(side or cfg["input_size"][-1]), config


def blank_timm(config: Mapping[str, Any]) -> nn.Module:
    """The model of a configuration, whose weights are still to be loaded."""
    return _made(config["architecture"], config["pretrained_cfg"], config["model_args"], num_classes=0)


def _made(name: str, shown: Mapping[str, Any], options: Mapping[str, Any], **more: Any) -> nn.Module:
    import timm

    model: nn.Module = timm.create_model(name, pretrained_cfg_overlay=dict(shown), **options, **more)
    return model


def _load(model: nn.Module, folder: Path) -> None:
    from safetensors.torch import load_file

    file = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if file is None:
        raise UsageError(f"{folder}: none of {', '.join(WEIGHTS)} is there.")
    safe = file.suffix == ".safetensors"
    try:
        model.load_state_dict(load_file(file) if safe else torch.load(file, map_location="cpu", weights_only=True))
    except RuntimeError as error:
        raise other_architecture(folder.name, error) from error


def load_in_order(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Weights of the same layers in the same order, whatever another library calls them."""
    own, given = ({n: t for n, t in each.items() if "num_batches" not in n} for each in (model.state_dict(), state))
    if [tensor.shape for tensor in own.values()] != [tensor.shape for tensor in given.values()]:
        raise UsageError("the weights have other layers, or have them in another order")
    model.load_state_dict(dict(zip(own, given.values(), strict=True)), strict=False)
