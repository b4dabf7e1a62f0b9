"""The inputs of each step: pixels, tokens, ids."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.batches import BatchPlan, Draw
from benchsuite.data.pixels import augment, augmented_rendering, standardize, to_unit
from benchsuite.data.prepared import Prepared
from benchsuite.methods.batch import TEACHER
from benchsuite.models.tokenizer import Tokens, Words
from benchsuite.setup import Setup
from benchsuite.training.distributed import share
from benchsuite.training.engine import device
from benchsuite.training.needs import VIEWS


@dataclass(frozen=True)
class Inputs:
    """One process's rows of one step, on its device: what the encoders get, and what goes to the method directly."""

    pixels: dict[str, Tensor]
    tokens: dict[str, Tokens | Tensor]
    extra: dict[str, Tensor]

    def shares(self, count: int) -> "list[Inputs]":
        """These rows in equal parts, each as a process of its own would have it."""
        if count == 1:
            return [self]
        each = len(self.extra["index"]) // count
        return [self._rows(slice(number * each, (number + 1) * each)) for number in range(count)]

    def _rows(self, part: slice) -> "Inputs":
        return Inputs(
            {name: rows[part] for name, rows in self.pixels.items()},
            {name: rows[part] for name, rows in self.tokens.items()},
            {name: rows[part] for name, rows in self.extra.items()},
        )


class Feed:
    """Makes a step's inputs: for pairs what method and teacher need, for a single encoder always two views."""

    def __init__(
        self,
        setup: Setup,
        plan: BatchPlan,
        words: Words | None,
        needs: frozenset[str],
        prepared: Prepared,
        on: torch.device | None = None,
    ) -> None:
        """Of this process's device, or `on` another."""
        self._prepared = prepared
        self._setup, self._plan, self._words = setup, plan, words
        inputs = {need.removesuffix(TEACHER) for need in needs}
        self._needs = needs | inputs | (VIEWS[setup.towers] if setup.towers != "pair" else frozenset())
        self._device = on or device()

    def epoch(self, step: int) -> int:
        """How often the data was gone through before this step."""
        return step * self._setup.training.accumulation // self._plan.steps_per_epoch

    def __call__(self, step: int, part: int) -> Inputs:
        """This process's rows of loss number `part` of an optimizer step."""
        number = step * self._setup.training.accumulation + part
        draws = {"": self._plan.draw(number)}
        if self._needs & {"image_view", "text_view"}:
            draws["_view"] = self._plan.draw_view(number)
        if "image_view2" in self._needs:
            draws["_view2"] = self._plan.draw_third(number)
        mine = share(self._setup.training.batch)
        wanted = {"image", "text", *self._needs}
        pixels = {
            f"image{n}": self._pixels(d, mine) for n, d in draws.items() if f"image{n}" in wanted and self._setup.image
        }
        tokens = {
            f"text{n}": self._tokens(d, mine) for n, d in draws.items() if f"text{n}" in wanted and self._setup.text
        }
        return Inputs(pixels, tokens, self._extra(draws[""].index[mine]))

    def _extra(self, index: NDArray[np.int64]) -> dict[str, Tensor]:
        names = ("cluster", "image_expert", "text_expert")
        rows = {name: getattr(self._prepared, name)[index] for name in names if name in self._needs}
        return {name: torch.from_numpy(part).to(self._device) for name, part in {"index": index, **rows}.items()}

    def _pixels(self, draw: Draw, mine: slice) -> Tensor:
        assert self._setup.image is not None
        if self._setup.image.mlp:
            vectors = self._plan.split.images[draw.index[mine]]
            return augmented_rendering(vectors, draw.augmentations[mine]).to(self._device)
        pixels = to_unit(self._plan.split.images[draw.index[mine]]).to(self._device)
        tower = self._setup.image
        standardized = standardize(augment(pixels, draw.augmentations[mine]), tower.mean, tower.std)
        channels_last = standardized.dim() == 4
        return standardized.contiguous(memory_format=torch.channels_last) if channels_last else standardized

    def _tokens(self, draw: Draw, mine: slice) -> Tokens | Tensor:
        assert self._words is not None
        return self._words(draw.captions[mine]).to(self._device)
