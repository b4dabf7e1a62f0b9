"""The method under test: how it is made, and which batches it may be given."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from benchsuite.fields import declared, temperatures
from benchsuite.methods import create_method, method_class
from benchsuite.methods.base import Method
from benchsuite.methods.batch import PARTS, TEACHER_PARTS, PairBatch, encoded

SAMPLES = 16
"""Size of the pretended training set."""
WIDTH = 8
COLDEST = 0.005
"""The smallest temperature at which a method must stay finite."""
Values = dict[str, Tensor]
"""Losses, gradients and state by name."""
Together = Sequence[Values | str]
"""The values of each of two processes, or the error it ended with."""


class NotMetError(Exception):
    """A check was not met; the message says how."""


class Subject:
    """A registered method, made anew as often as checks want."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cls = method_class(name)
        self.title = self.cls.card.title
        self.excuses: Mapping[str, str] = self.cls.excuses
        self.together: Together | None = None
        """Where it was run on two processes."""

    @cached_property
    def template(self) -> Method:
        """One to ask what it serves and needs, not to train."""
        return self.make()

    def make(self, width: int | None = WIDTH, **hyperparameters: Any) -> Method:
        """The method with its defaults but for its miniature sizes and `hyperparameters`."""
        return create_method(self.name, num_samples=SAMPLES, width=width, **{**self.cls.miniature, **hyperparameters})

    def make_cold(self) -> Method:
        """The method with all its temperatures scaled together until the smallest is the coldest."""
        values = {n: getattr(self.cls, n) for n in temperatures(self.cls) if hasattr(self.cls, n)}
        smallest = min((v for v in values.values() if v), default=COLDEST)
        return self.make(**{n: v * COLDEST / smallest for n, v in values.items() if v is not None})

    @property
    def fields(self) -> Mapping[str, Any]:
        """Hyper-parameter -> annotation."""
        return declared(self.cls)


def modes(method: Method) -> list[str]:
    """Which towers the method can be given: "pair", "image", "text"."""
    return sorted(method.serves, key=("pair", "image", "text").index)


def parts(method: Method, mode: str) -> list[str]:
    """What a batch carries for this method, and nothing else."""
    if mode == "pair":
        return [part for part in PARTS if part in {"image", "text", *method.needs}]
    own = {part for part in (mode, f"{mode}_view") if encoded(part, method.needs)}
    return [part for part in of_tower(mode) if part in own | method.needs]


def of_tower(mode: str) -> list[str]:
    """Everything a batch for these towers can carry."""
    return [part for part in PARTS if mode == "pair" or part.split("_")[0] in (mode, "index", "cluster")]


def tensors(names: Iterable[str], size: int, seed: int, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    """Random parts of a batch of `size` different samples; a part is the same whatever else is asked for."""
    generator = torch.Generator().manual_seed(seed)
    values: dict[str, Tensor] = {
        part: torch.randn(size, WIDTH, generator=generator, dtype=torch.float64).to(dtype)
        for part in PairBatch.EMBEDDINGS
        if part not in TEACHER_PARTS
    }
    values["index"] = torch.randperm(SAMPLES, generator=generator)[:size]
    for part in TEACHER_PARTS:
        values[part] = torch.randn(size, WIDTH, generator=generator, dtype=torch.float64).to(dtype)
    values["cluster"] = torch.zeros(size, dtype=torch.long)
    return {name: values[name] for name in names}


def nasty(names: Iterable[str], size: int, dtype: torch.dtype) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """Numerically difficult batches, by name."""
    plain = tensors(names, size, seed=5, dtype=dtype)
    first = torch.eye(WIDTH, dtype=dtype)[:1].expand(size, WIDTH)
    twice = torch.eye(WIDTH, dtype=dtype)[[i // 2 for i in range(size)]]
    ids = {name: rows for name, rows in plain.items() if name not in PairBatch.EMBEDDINGS}
    embeddings = [name for name in plain if name not in ids]
    yield "random", plain
    yield "collapsed", {**{name: first.clone() for name in embeddings}, **ids}
    against = {name: first.clone() * (-1 if name.startswith("text") else 1) for name in embeddings}
    yield "anti-aligned pairs", {**against, **ids}
    against = {name: first.clone() * (-1 if "view" in name else 1) for name in embeddings}
    yield "anti-aligned views", {**against, **ids}
    yield "duplicated", {**{name: twice.clone() for name in embeddings}, **ids}
    apart = torch.eye(WIDTH, dtype=dtype)[torch.arange(size) % WIDTH]
    shifted = {name: apart.roll(1, 1) if name.startswith("text") or "view" in name else apart for name in embeddings}
    yield "orthogonal", {**{name: rows.clone() for name, rows in shifted.items()}, **ids}
    far = first * torch.where(torch.arange(size) % 2 == 0, 1, -1)[:, None]
    yield "far", {**{name: far.clone() for name in embeddings}, **ids}  # positives at 1, most negatives at -1


def differentiable(batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same parts as leaves that collect gradients, but for the teacher's, which have none in training either."""
    leaves = {n for n, t in batch.items() if t.is_floating_point() and n not in TEACHER_PARTS}
    return {n: t.detach().clone().requires_grad_() if n in leaves else t for n, t in batch.items()}


def unlike(a: Tensor, b: Tensor, least: float = 0.0) -> float:
    """Largest difference as a share of the largest entry, or of `least` if that is larger; infinite if incomparable.

    State may hold infinities (the logarithm of nothing yet), which then must stand at the same places.
    """
    if a.shape != b.shape:
        return math.inf
    a, b = a.detach().double(), b.detach().double()
    endless = ~(a.isfinite() & b.isfinite())
    if not torch.equal(a[endless], b[endless]):
        return math.inf
    a, b = a[~endless], b[~endless]
    scale = max((t.abs().max().item() for t in (a, b) if t.numel()), default=0.0)
    scale = max(scale, least)
    return (a - b).abs().max().item() / scale if scale else 0.0
