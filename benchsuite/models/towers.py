"""The towers by name: of images, of clips, of texts."""

import hashlib
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchsuite.errors import UsageError, did_you_mean, first_line
from benchsuite.models.clip_models import blank_model
from benchsuite.models.tokenizer import PAD, Tokens
from benchsuite.torchvision_ops import make_importable
from benchsuite.tower_settings import ImageTower, TextTower


class ImageEncoder(nn.Module):
    """A timm model without its classifier: [n, 3, H, W] to [n, width]."""

    def __init__(self, tower: ImageTower) -> None:
        super().__init__()
        make_importable()
        import timm

        options = {k: tuple(v) if isinstance(v, list) else v for k, v in tower.options.items()}
        if not tower.timm or not timm.is_model(tower.timm):
            folder = f' Write model = "timm:{tower.timm}" for a folder.' if Path(tower.timm).is_dir() else ""
            hint = folder or did_you_mean(tower.timm, timm.list_models())
            raise UsageError(f'image tower "{tower.timm}": timm has no such model.{hint}')
        try:
            self.body = timm.create_model(tower.timm, pretrained=tower.pretrained, num_classes=0, **options)
        except (RuntimeError, TypeError, ValueError, AssertionError, OSError) as error:
            raise UsageError(f'image tower "{tower.timm}" with {options}: {first_line(error)}') from error
        if tower.stem == "cifar":
            use_cifar_stem(self.body, tower.timm)
        self.width = int(self.body.num_features)

    def forward(self, pixels: Tensor) -> Tensor:
        if pixels.dim() != 4:
            raise UsageError(
                f"image tower: it takes images [n, 3, H, W]; given {list(pixels.shape)}. "
                'For clips, say how frames are pooled: frames = "mean" or "transformer".'
            )
        out: Tensor = self.body(pixels)
        return out


class TextEncoder(nn.Module):
    """A transformers encoder, pooled over its tokens: ids and mask [n, L] to [n, width]."""

    def __init__(self, tower: TextTower, vocabulary: int, config: Mapping[str, Any] | None = None) -> None:
        """With `config`, a pretrained one's own, the same model without its weights."""
        super().__init__()
        make_importable()
        from transformers import AutoModel

        try:
            if config is not None:
                self.body = blank_model("transformers", config)
            elif tower.pretrained:
                whole = {**tower.config, "dtype": torch.float32}  # not as it was stored: it is trained
                self.body, read = AutoModel.from_pretrained(tower.source, **whole, output_loading_info=True)
                self.weights = weights_digest(self.body, read["missing_keys"])
                if tower.weights not in (None, self.weights):
                    message = "its weights have changed since the run was planned."
                    raise UsageError(f'text tower "{tower.source}": {message}')
            else:
                self.body = AutoModel.from_config(text_config(tower, vocabulary))
        except UsageError:
            raise
        except Exception as error:  # configurations are checked by each model in its own way
            raise UsageError(f'text tower "{tower.source}" with {tower.config}: {first_line(error)}') from error
        if not hasattr(self.body.config, "hidden_size"):
            raise UsageError(
                f'text tower "{tower.source}": a {self.body.config.model_type} model has two towers. '
                f'Write model = "transformers:{tower.source}" in place of transformer.'
            )
        self.width = int(self.body.config.hidden_size)
        self.pool = tower.pool

    def forward(self, tokens: Tokens) -> Tensor:
        states: Tensor = self.body(input_ids=tokens.ids, attention_mask=tokens.mask).last_hidden_state
        if self.pool == "first":
            return states[:, 0]
        if self.pool == "last":
            return states[torch.arange(len(states), device=states.device), tokens.mask.sum(1) - 1]
        mask = tokens.mask.unsqueeze(-1).to(states.dtype)
        return (states * mask).sum(1) / mask.sum(1)


def use_cifar_stem(body: nn.Module, name: str) -> None:
    """Replace a ResNet's stem, which reduces 32x32 to 8x8, by one convolution that keeps 32x32."""
    first, pooling = getattr(body, "conv1", None), getattr(body, "maxpool", None)
    if not isinstance(first, nn.Conv2d) or pooling is None:
        raise UsageError(f'image tower "{name}": stem = "cifar" is for ResNets that begin with one convolution.')
    body.conv1 = nn.Conv2d(3, first.out_channels, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(body.conv1.weight, mode="fan_out", nonlinearity="relu")
    body.maxpool = nn.Identity()


def text_config(tower: TextTower, vocabulary: int) -> Any:
    """The transformers configuration of a tower that starts from random weights; a misspelt key is refused."""
    from transformers import CONFIG_MAPPING

    if tower.transformer not in CONFIG_MAPPING:
        hint = did_you_mean(tower.transformer, CONFIG_MAPPING)
        raise UsageError(f'text tower "{tower.transformer}": transformers has no such model type.{hint}')
    make = CONFIG_MAPPING[tower.transformer]
    known = ({*make().to_dict()} | {*make.attribute_map}) - {"vocab_size", "pad_token_id"}
    for key in tower.config:
        if key not in known:
            hint = did_you_mean(key, known)
            raise UsageError(f'text tower "{tower.transformer}": its configuration has no "{key}" to set.{hint}')
    return make(vocab_size=vocabulary, pad_token_id=PAD, **tower.config)


def weights_digest(model: nn.Module, but: Collection[str] = ()) -> str:
    """A digest of all parameters and buffers, `but` those that no file gave."""
    sha = hashlib.sha256()
    for name, tensor in sorted((name, tensor) for name, tensor in model.state_dict().items() if name not in but):
        sha.update(name.encode())
        sha.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()[:16]


LAYERS, HEADS = 2, 4


class VideoEncoder(nn.Module):
    """[n, T, 3, H, W] to [n, width]: the mean over frames, or over the outputs of a small transformer on them.

    The mean does not see the order of frames: a clip and its reverse give the same. The transformer does.
    """

    def __init__(self, tower: ImageTower) -> None:
        super().__init__()
        self.image = ImageEncoder(tower)
        self.width = self.image.width
        self.temporal = TemporalTransformer(self.width) if tower.frames == "transformer" else None

    def forward(self, clips: Tensor) -> Tensor:
        if clips.dim() != 5:
            raise UsageError(
                f"image tower: it pools frames, so it takes clips [n, T, 3, H, W]; given {list(clips.shape)}. "
                "For images, remove `frames`."
            )
        frames = clips.flatten(0, 1).contiguous(memory_format=torch.channels_last)
        states: Tensor = self.image(frames).unflatten(0, clips.shape[:2])
        return (states if self.temporal is None else self.temporal(states)).mean(1)


class TemporalTransformer(nn.Module):
    """A pre-norm transformer over frames, [n, T, width] to the same; any number of frames will do."""

    def __init__(self, width: int) -> None:
        super().__init__()
        heads = math.gcd(HEADS, width)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)

    def forward(self, states: Tensor) -> Tensor:
        out: Tensor = self.layers(states + positions(*states.shape[1:]).to(states))
        return out


def positions(frames: int, width: int) -> Tensor:
    """Sines and cosines of falling frequency, [frames, width]."""
    rate = torch.exp(-math.log(10_000.0) * torch.arange(0, width, 2) / width)
    angle = torch.arange(frames)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)[:, :width]


def image_encoder(tower: ImageTower) -> ImageEncoder | VideoEncoder:
    """The tower for images, or the one for clips if the setup says how frames are pooled."""
    return VideoEncoder(tower) if tower.frames else ImageEncoder(tower)
