"""Frozen towers are run once over the training set, before the first step, where each step would give them the same.

What a step reads of such a side is vectors then, mapped from the cache, and its projection alone is run.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchsuite.data.base import Split, TextsOfImages
from benchsuite.data.batches import BatchPlan, augmentation_parameters
from benchsuite.data.prepared import cached_rows
from benchsuite.data.vectors import Lists, VectorLists
from benchsuite.models.clip_models import Side
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.tokenizer import Words
from benchsuite.models.towers import weights_digest
from benchsuite.models.vectors import VectorWords
from benchsuite.parts import Plain
from benchsuite.running import running
from benchsuite.setup import Augmentation, Setup
from benchsuite.training.engine import device
from benchsuite.training.feed import pixels_for
from benchsuite.training.needs import reads_paraphrases

Blocks = Iterator[tuple[Any, int]]
"""What a tower is given, and how many of its first rows count: all blocks but the last one are full."""


def sides_once(setup: Setup, plan: BatchPlan) -> frozenset[Side]:
    """The sides with a frozen tower and without augmentation, if the training reads as much of them as there is."""
    training, split, sides = setup.training, plan.split, set[Side]()
    read = training.steps * training.accumulation * training.batch
    plain = setup.augmentation.model_copy(update={"text_view": "paraphrase", "jitter": 1.0}) == Augmentation()
    if setup.image and setup.image.train == "none" and plain and not running().skip_bad_pictures and len(split) <= read:
        sides.add("image")
    if setup.text and setup.text.train == "none" and sum(map(len, split.captions)) <= read:
        sides.add("text")
    return frozenset(sides)


def embedded_once(
    sides: frozenset[Side], setup: Setup, plan: BatchPlan, words: Words | None, encoder: DualEncoder, needs: Set[str]
) -> tuple[BatchPlan, Words | None]:
    """The same batches with vectors in place of what these sides show, and what reads the texts."""
    split, augmentation, frozen = plan.split, plan.augmentation, _Frozen(setup, plan.split, encoder)
    if "image" in sides:
        split, augmentation = replace(split, images=frozen.images()), Augmentation(text_view=augmentation.text_view)
    if "text" in sides and words:
        split = replace(split, captions=frozen.texts(split.captions, "captions", words))
        if reads_paraphrases(needs, setup) and len(split.paraphrases):
            split = replace(split, paraphrases=frozen.texts(split.paraphrases, "paraphrases", words))
        words = VectorWords(split.captions[0].shape[1])  # type: ignore[union-attr]
    return replace(plan, split=split, augmentation=augmentation), words


class _Frozen:
    """Frozen towers, run in blocks of as many rows as a share of a batch: other numbers of rows round otherwise."""

    def __init__(self, setup: Setup, split: Split, encoder: DualEncoder) -> None:
        self._setup, self._split, self._encoder = setup, split, encoder
        self._rows = setup.training.batch // setup.training.processes

    def images(self) -> NDArray[np.float32]:
        """[N, 1, D]."""
        images, count, tower = self._split.images, len(self._split), self._setup.image
        plain = torch.from_numpy(augmentation_parameters(Augmentation(), self._rows, 0, "", 0))
        assert tower

        def blocks() -> Blocks:
            for start in range(0, count, self._rows):
                index = np.arange(start, start + self._rows).clip(max=count - 1)
                pixels = torch.from_numpy(np.asarray(images[index])).to(device())
                yield pixels_for(pixels, plain, tower), count - start

        return self._once("image", {"kind": "images"}, blocks, count)[:, None]

    def texts(self, lists: TextsOfImages, kind: str, words: Words) -> VectorLists:
        """As many vectors of each image as it has texts."""
        counts = np.fromiter(map(len, lists), np.int64)

        def blocks() -> Blocks:
            texts: Iterator[Any] = chain.from_iterable(lists)
            while block := list(islice(texts, self._rows)):
                yield words(block + block[-1:] * (self._rows - len(block))).to(device()), len(block)

        key = {"kind": kind, "words": words.digest, "paraphrases": self._setup.data.paraphrases}
        rows = self._once("text", key, blocks, int(counts.sum()))
        return Lists([rows], counts).of(np.arange(len(counts)), False, None, kind)

    def _once(self, side: Side, key: Plain, blocks: Callable[[], Blocks], count: int) -> NDArray[np.float32]:
        tower: Any = getattr(self._encoder, f"{side}_tower").eval()
        precision, on = self._setup.training.precision, device().type

        def made() -> Iterator[NDArray[np.float32]]:
            for inputs, n in blocks():
                with torch.no_grad(), torch.autocast(on, torch.bfloat16, enabled=precision == "bf16"):
                    yield tower(inputs)[:n].float().cpu().contiguous().numpy()

        settings = getattr(self._setup, side).model_dump(mode="json")
        key = {**key, "tower": settings, "weights": weights_digest(tower), "precision": precision, "device": on}
        return cached_rows({**key, "rows": self._rows}, self._setup, self._split, made, np.float32, count)
