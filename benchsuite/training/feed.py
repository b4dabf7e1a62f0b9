"""The inputs of each step: pixels, tokens, ids."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.batches import BatchPlan, Draw, no_paraphrases
from benchsuite.data.pixels import augment, augmented_rendering, standardize, to_unit
from benchsuite.data.prepared import Prepared
from benchsuite.data.readers.images import BadPicture
from benchsuite.errors import UsageError
from benchsuite.methods.batch import TEACHER
from benchsuite.models.tokenizer import Tokens, Words
from benchsuite.running import running
from benchsuite.setup import Setup
from benchsuite.tower_settings import ImageTower
from benchsuite.training.distributed import gathered, share
from benchsuite.training.engine import device
from benchsuite.training.loading import Ahead, workers_for
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
        parts = [slice(number * each, (number + 1) * each) for number in range(count)]
        return [
            Inputs(
                {name: rows[part] for name, rows in self.pixels.items()},
                {name: rows[part] for name, rows in self.tokens.items()},
                {name: rows[part] for name, rows in self.extra.items()},
            )
            for part in parts
        ]


@dataclass(frozen=True)
class Rows:
    """The same as it is read, maybe by a worker, before any arithmetic: the process that trains does all of that."""

    images: Tensor | None
    """Once for all views."""
    augmentations: dict[str, Tensor]
    """By view. They stay where they are: `augment` moves them."""
    tokens: dict[str, Tokens | Tensor]
    extra: dict[str, Tensor]
    replaced: dict[int, str]
    """Rows of the split whose pictures are bad, with the reason."""

    def pin_memory(self) -> "Rows":
        """The same in memory from which a GPU copies by itself."""
        pinned = {name: part.pin_memory() for name, part in self.augmentations.items()}
        return replace(self._each(lambda part: part.pin_memory()), augmentations=pinned)

    def to(self, device: torch.device) -> "Rows":
        """The same on another device; from pinned memory without waiting for the copy."""
        return self._each(lambda part: part.to(device, non_blocking=True))

    def _each(self, moved: Callable[[Any], Any]) -> "Rows":
        return replace(
            self,
            images=None if self.images is None else moved(self.images),
            tokens={name: moved(part) for name, part in self.tokens.items()},
            extra={name: moved(part) for name, part in self.extra.items()},
        )


class Feed:
    """Makes a step's inputs: for pairs what method and teacher need, for a single encoder always two views.

    What is read for a loss is a function of its number alone, so it can be read by workers, from any step on.
    """

    def __init__(
        self,
        setup: Setup,
        plan: BatchPlan,
        words: Words | None,
        needs: frozenset[str],
        prepared: Prepared,
        on: torch.device | None = None,
        workers: int | None = None,
    ) -> None:
        """Of this process's device, or `on` another; with as many workers as the data ask for, or `workers`."""
        self._prepared = prepared
        self._setup, self._plan, self._words = setup, plan, words
        inputs = {need.removesuffix(TEACHER) for need in needs}
        self._needs = needs | inputs | (VIEWS[setup.towers] if setup.towers != "pair" else frozenset())
        self._device = on or device()
        self._pictures = Pictures(plan.split.images, running().skip_bad_pictures)
        self._workers = workers_for(plan.split) if workers is None else workers
        self._ahead: Ahead[Rows] | None = None
        self.skipped: dict[int, str] = {}
        """Rows of the split that were replaced so far in this process's share, because their pictures are bad."""

    def epoch(self, step: int) -> int:
        """How often the data was gone through before this step."""
        return step * self._setup.training.accumulation // self._plan.steps_per_epoch

    def __call__(self, step: int, part: int) -> Inputs:
        """This process's rows of loss number `part` of an optimizer step.

        Whatever is asked for first, the following ones are made ahead; asking for another than the next starts anew.
        """
        training = self._setup.training
        number = step * training.accumulation + part
        if self._ahead is None or self._ahead.next != number:
            self.close()
            stop = max(number + 1, training.steps * training.accumulation)
            on_gpu = self._device.type == "cuda"
            self._ahead = Ahead(self._read, number, stop, self._workers, pinned=on_gpu)
        rows = next(self._ahead).to(self._device)
        self.skipped |= rows.replaced
        images, tower, pixels = rows.images, self._setup.image, dict[str, Tensor]()
        if images is not None and tower:
            pixels = {name: pixels_for(images, drawn, tower) for name, drawn in rows.augmentations.items()}
        return Inputs(pixels, rows.tokens, rows.extra)

    def make_next(self) -> None:
        """Make the rows of the next loss now, where no worker does it ahead."""
        if self._ahead:
            self._ahead.make_next()

    def skipped_by_all(self) -> list[int]:
        """The rows that any process replaced. Every process must ask."""
        return sorted({row for rows in gathered([*self.skipped]) for row in rows})

    def close(self) -> None:
        if self._ahead:
            self._ahead.close()
            self._ahead = None

    def _read(self, number: int) -> Rows:
        draws = {"": self._plan.draw(number)}
        if self._needs & {"image_view", "text_view"}:
            draws["_view"] = self._plan.draw_view(number)
        if "image_view2" in self._needs:
            draws["_view2"] = self._plan.draw_third(number)
        mine = share(self._setup.training.batch)
        wanted = {"image", "text", *self._needs}
        index = draws[""].index[mine]
        images, augmentations = None, dict[str, Tensor]()
        instead, replaced = dict[int, int](), dict[int, str]()
        if self._setup.image:
            pictures, instead, replaced = self._pictures.read(index)
            images = torch.from_numpy(pictures)
            augmentations = {
                name: torch.from_numpy(draw.augmentations[mine])
                for view, draw in draws.items()
                if (name := f"image{view}") in wanted
            }
        if instead:
            index = index.copy()
            index[list(instead)] = list(instead.values())
        tokens = {
            name: self._tokens(draw, view, mine, instead)
            for view, draw in draws.items()
            if (name := f"text{view}") in wanted and self._setup.text
        }
        return Rows(images, augmentations, tokens, self._extra(index), replaced)

    def _extra(self, index: NDArray[np.int64]) -> dict[str, Tensor]:
        names = ("cluster", "image_expert", "text_expert")
        rows = {name: getattr(self._prepared, name)[index] for name in names if name in self._needs}
        return {name: torch.from_numpy(part) for name, part in {"index": index, **rows}.items()}

    def _tokens(self, draw: Draw, view: str, mine: slice, instead: dict[int, int]) -> Tokens | Tensor:
        assert self._words is not None
        if not len(draw.captions):
            raise no_paraphrases(self._plan.split.name)
        texts = draw.captions[mine]
        if instead:
            others = self._plan.texts(view)
            texts = [others[instead[k]][0] if k in instead else text for k, text in enumerate(texts)]
        return self._words(texts)


def pixels_for(images: Tensor, augmentations: Tensor, tower: ImageTower) -> Tensor:
    """What the tower is given of stored images; of vectors, one rendering each."""
    if images.dim() == 3:
        return augmented_rendering(images, augmentations)
    standardized = standardize(augment(to_unit(images), augmentations), tower.mean, tower.std)
    channels_last = standardized.dim() == 4
    return standardized.contiguous(memory_format=torch.channels_last) if channels_last else standardized


MOST_IN_A_ROW = 100
"""Bad pictures one after another, after which something else is wrong than pictures."""
log = logging.getLogger(__name__)


class Pictures:
    """Rows of a split's images, read once for all views.

    A pair whose picture is bad ends the run, or is replaced by the next pair of the split whose picture is not: its
    picture, its first caption, its class, its number. After the last row comes the first.
    """

    def __init__(self, images: NDArray[Any], replace: bool) -> None:
        self._images, self._replace = images, replace
        self._instead: dict[int, int] = {}
        self._why: dict[int, str] = {}

    def read(self, index: NDArray[np.int64]) -> tuple[NDArray[Any], dict[int, int], dict[int, str]]:
        """The images at these rows; the row read in place of a bad one by position; the bad rows with the reasons."""
        asked = np.array([self._instead.get(row, row) for row in index.tolist()]) if self._instead else index
        try:
            images = np.asarray(self._images[asked])
        except BadPicture:
            if not self._replace:
                raise
            for row in index.tolist():
                self._find(row)
            return self.read(index)
        bad = [(k, row) for k, row in enumerate(index.tolist()) if row in self._instead]
        return images, {k: self._instead[row] for k, row in bad}, {row: self._why[row] for _, row in bad}

    def _find(self, row: int) -> None:
        """Note which row stands for this one, if its picture is bad."""
        if row in self._instead:
            return
        why = ""
        for further in range(MOST_IN_A_ROW + 1):
            other = (row + further) % len(self._images)
            try:
                self._images[other]
            except BadPicture as error:
                why = why or str(error)
                continue
            if further:
                self._instead[row], self._why[row] = other, why
                log.warning("skipped a picture, row %d: %s", row, why)
            return
        raise UsageError(
            f"{why} So are the {MOST_IN_A_ROW} pictures after it: that is more than --skip-bad-pictures is for."
        )
