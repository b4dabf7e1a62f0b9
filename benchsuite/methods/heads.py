"""Predictors and projectors of a method: declared by a `Head`, built and averaged by the suite."""

import hashlib
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import normalize
from torch.nn.utils import skip_init

from benchsuite.errors import UsageError

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}
NORMS = ("batch", "none")


@dataclass(frozen=True)
class Head:
    """Linear layers over [B, width], with a norm and an activation between them, and perhaps a norm of the result.

    Batch norm has the statistics of the batch that it is given, always, so a head has no buffers. Layers in front of
    one have no bias, which it would cancel.
    """

    layers: int = 2
    hidden: int = 4096
    """Width of the layers but the last."""
    out: int | None = None
    """Width of the result; None: as wide as what it is given."""
    norm: Literal["batch", "none"] = "batch"
    out_norm: Literal["batch", "none"] = "none"
    """Of the result: "batch", without scale and shift, as in MoCo v3's and SimSiam's projectors."""
    activation: Literal["relu", "gelu"] = "relu"
    averaged: bool = False
    """Keep an averaged copy for what the teacher embeds: `self.teacher_head[name]`."""
    width: int | None = None
    """Width of what it is given; None: that of the embeddings."""
    prototypes: bool = False
    """The last layer has rows of length 1 and no bias: cosines, if what it is given has length 1."""

    def __post_init__(self) -> None:
        sizes = {"layers": self.layers, "hidden": self.hidden, "out": self.out or 1, "width": self.width or 1}
        for field, size in sizes.items():
            if size < 1:
                raise UsageError(f"Head: {field} = {size} is not possible: it must be at least 1.")
        for field, known in (("norm", NORMS), ("out_norm", NORMS), ("activation", ACTIVATIONS)):
            if (value := getattr(self, field)) not in known:
                raise UsageError(f"Head: {field} = {value!r} is not possible: there are {', '.join(known)}.")
        if self.prototypes and self.out_norm != "none":
            raise UsageError("Head: prototypes gives cosines, and out_norm would rescale them; leave one of them out.")

    @property
    def has_batch_norm(self) -> bool:
        """Whether a layer needs the statistics of the batch."""
        return self.out_norm == "batch" or (self.norm == "batch" and self.layers > 1)


class HeadModule(nn.Module):
    """A head with its weights, in the precision of what it is given.

    Its first weights depend on `seed` alone, also where they are made at the first batch, which tells the width.
    """

    def __init__(self, head: Head, seed: int, width: int | None = None, trained: bool = True) -> None:
        super().__init__()
        self.head, self.seed, self.trained = head, seed, trained
        self.layers = nn.Sequential()
        if known := head.width or width:
            self.build(known)

    def build(self, width: int) -> None:
        """Make the layers, with the distributions of nn.Linear, if they are not there yet."""
        if len(self.layers):
            return
        head, generator = self.head, torch.Generator().manual_seed(self.seed)
        widths = [width, *[head.hidden] * (head.layers - 1), head.out or width]
        for number, (inner, outer) in enumerate(pairwise(widths), 1):
            last = number == head.layers
            bias = not head.prototypes and head.out_norm == "none" if last else head.norm == "none"
            self.layers.append(seeded_linear(inner, outer, bias, generator))
            if not last and head.norm == "batch":
                self.layers.append(nn.BatchNorm1d(outer, track_running_stats=False))
            if not last:
                self.layers.append(ACTIVATIONS[head.activation]())
        if head.out_norm == "batch":
            self.layers.append(nn.BatchNorm1d(widths[-1], affine=False, track_running_stats=False))
        self.layers.requires_grad_(self.trained)

    def forward(self, x: Tensor, *, frozen: bool = False) -> Tensor:
        """The result for [B, width]. `frozen`: the gradient goes through to `x`, and not to the weights."""
        if not len(self.layers):
            self.build(x.shape[1])
            self.to(x.device)
        weights = {name: p.to(x.dtype) for name, p in self.layers.named_parameters()}
        if self.head.prototypes:
            last = f"{len(self.layers) - 1}.weight"
            weights[last] = normalize(weights[last], dim=1)
        result: Tensor = functional_call(self.layers, {n: w.detach() if frozen else w for n, w in weights.items()}, x)
        return result

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *more: Any) -> None:
        first = state_dict.get(f"{prefix}layers.0.weight")
        if first is not None:
            self.build(first.shape[1])
        super()._load_from_state_dict(state_dict, prefix, *more)


def head_seed(name: str) -> int:
    """A seed for the head of this name, from that of torch's global generator and not from where it stands."""
    text = f"{torch.initial_seed()}/head/{name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def seeded_linear(width: int, out: int, bias: bool, generator: torch.Generator) -> nn.Linear:
    """A linear layer, uniform within 1 / sqrt(width), as nn.Linear makes it, but from this generator."""
    layer: nn.Linear = skip_init(nn.Linear, width, out, bias=bias)  # type: ignore[no-untyped-call]
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -1 / math.sqrt(width), 1 / math.sqrt(width), generator=generator)
    return layer
