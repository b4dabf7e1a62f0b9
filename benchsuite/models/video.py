"""The video tower: frames through the image tower, then one vector of them."""

import math

import torch
from torch import Tensor, nn

from benchsuite.errors import UsageError
from benchsuite.models.towers import ImageEncoder
from benchsuite.setup import ImageTower

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
