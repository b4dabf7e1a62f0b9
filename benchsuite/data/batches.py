"""Pairs, captions and augmentation of each training step: a function of the seed and the step alone."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import Split, TextsOfImages, Vectors
from benchsuite.data.vectors import VectorLists
from benchsuite.errors import UsageError
from benchsuite.setup import Augmentation
from benchsuite.streams import numpy_stream


@dataclass(frozen=True)
class Draw:
    """What is drawn for one step. A second view has draws of its own, so that all methods have the same first one."""

    index: NDArray[np.int64]
    captions: Sequence[str] | Vectors
    """None where the split has none."""
    augmentations: NDArray[np.float32]
    """`augmentation_parameters`: how each image is cropped and coloured; `vector_parameters` of vectors."""


def no_paraphrases(split: str) -> UsageError:
    """The error for a method that reads paraphrases which a split does not have."""
    return UsageError(
        f"split {split} has no paraphrases, which a method with text views needs. Add them to the data (see "
        "docs/real-data.md; your own: pairs.paraphrase=COLUMN, see docs/own-data.md), or set "
        'augmentation.text_view = "dropout", which is another setup.'
    )


GROUP = 1000
"""Pairs that stay near each other where pairs are shuffled within a window; a tar file holds some thousands."""


@dataclass(frozen=True)
class BatchPlan:
    """All batches of a training under one seed. Epochs are shuffled; the last, incomplete batch of each is dropped."""

    split: Split
    batch: int
    augmentation: Augmentation
    seed: int
    window: int | None = None
    """Pairs are shuffled among so many of them; none: among all."""

    def __post_init__(self) -> None:
        if self.batch > len(self.split):
            raise UsageError(
                f"batch {self.batch} is larger than split {self.split.name} with {len(self.split)} pairs. "
                f"Copy the recipe and set training.batch to {len(self.split)} or less."
            )
        of_vectors, fields = {"mask", "noise"}, type(self.augmentation).model_fields.items()
        given = {name for name, field in fields if getattr(self.augmentation, name) != field.default}
        in_vectors = self.split.is_vectors
        if wrong := sorted((given - of_vectors - {"text_view"}) if in_vectors else given & of_vectors):
            holds, other = ("vectors", "images") if in_vectors else ("images", "vectors")
            raise UsageError(
                f"split {self.split.name} holds {holds}, but augmentation.{wrong[0]} is for {other}. "
                + ("For vectors there are augmentation.mask and augmentation.noise." if in_vectors else "Remove it.")
            )

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in the split."""
        return len(self.split) // self.batch

    def index(self, step: int) -> NDArray[np.int64]:
        """Positions of the step's pairs."""
        epoch, number = divmod(step, self.steps_per_epoch)
        order = epoch_order(self.seed, epoch, len(self.split), self.window)
        return order[number * self.batch : (number + 1) * self.batch].astype(np.int64)

    def draw(self, step: int) -> Draw:
        """The pairs of a step, each with one of its captions (if any) and the first augmentation of its image."""
        return self._draw(step, "first")

    def draw_view(self, step: int) -> Draw:
        """The same pairs, each with a paraphrase (if there are any) and another augmentation."""
        return self._draw(step, "view", "first" if self.augmentation.text_view == "dropout" else "view")

    def draw_third(self, step: int) -> Draw:
        """The same pairs with a third augmentation, and the captions of the first draw."""
        return self._draw(step, "third")

    def texts(self, view: str) -> TextsOfImages:
        """Those that the captions of a draw come from; `view` as in the inputs' names: "", "_view" or "_view2"."""
        paraphrased = view == "_view" and self.augmentation.text_view != "dropout"
        return self.split.paraphrases if paraphrased else self.split.captions

    def digest(self, steps: int = 4) -> str:
        """A digest of the first draws: equal for all methods under one seed, or the runs may not be paired."""
        sha = hashlib.sha256()
        for step in range(steps):
            draw = self.draw(step)
            sha.update(draw.index.astype("<i8").tobytes())
            texts = draw.captions
            if isinstance(texts, np.ndarray):
                sha.update(texts.astype("<f4").tobytes())
            else:
                sha.update("\n".join(texts).encode() if len(texts) else b"")
            sha.update(draw.augmentations.astype("<f4").tobytes())
        return sha.hexdigest()[:16]

    def _draw(self, step: int, view: str, words: str = "first") -> Draw:
        index, texts = self.index(step), self.split.paraphrases if words == "view" else self.split.captions
        drawn = _drawn(texts, index, numpy_stream(self.seed, "captions", words, step)) if len(texts) else ()
        return Draw(index, drawn, self._augmentations(step, view))

    def _augmentations(self, step: int, view: str) -> NDArray[np.float32]:
        if self.split.is_vectors:
            _, renderings, width = self.split.images.shape
            return vector_parameters(self.augmentation, self.batch, renderings, width, self.seed, view, step)
        return augmentation_parameters(self.augmentation, self.batch, self.seed, view, step)


def _drawn(texts: TextsOfImages, index: NDArray[np.int64], generator: np.random.Generator) -> Sequence[str] | Vectors:
    """One of the texts of each of these images."""
    if isinstance(texts, VectorLists):
        return texts.drawn(index, generator)
    if isinstance(texts, np.ndarray):
        vectors: Vectors = texts[index, generator.integers(texts.shape[1], size=len(index))]
        return vectors
    return [texts[i][int(generator.integers(len(texts[i])))] for i in index]


@lru_cache(maxsize=1)
def epoch_order(seed: int, epoch: int, count: int, window: int | None = None) -> NDArray[np.generic]:
    """The shuffled positions of an epoch: cached, as shuffling takes longer than a step, and small, for each worker.

    With a window, whole groups of neighbours are shuffled first, then the pairs of each window: a window's pictures lie
    in few places of a disk.
    """
    numbers, stream = np.arange(count, dtype=np.min_scalar_type(count)), numpy_stream(seed, "order", epoch)
    if window is None:
        return stream.permutation(numbers)
    groups = np.split(numbers, range(GROUP, count, GROUP))
    near = np.concatenate([groups[number] for number in stream.permutation(len(groups))])
    return np.concatenate([stream.permutation(part) for part in np.split(near, range(window, count, window))])


def augmentation_parameters(augmentation: Augmentation, n: int, seed: int, view: str, step: int) -> NDArray[np.float32]:
    """[n, 8]: how each image is augmented.

    Centre (x, y) and half-size of the crop in [-1, 1], mirror sign, factors of brightness, contrast and saturation (0:
    grey), rotation of the hue.
    """
    rng = numpy_stream(seed, "augmentation", view, step)
    half = np.sqrt(rng.uniform(*augmentation.crop, size=n))
    x, y = (rng.uniform(-1, 1, size=n) * (1 - half) for _ in range(2))
    mirror = np.where(rng.random(n) < 0.5, -1.0, 1.0) if augmentation.flip else np.ones(n)
    applies = rng.random(n) < augmentation.jitter
    spread = (augmentation.brightness, augmentation.contrast, augmentation.saturation)
    brightness, contrast, saturation = (1 + applies * s * rng.uniform(-1, 1, size=n) for s in spread)
    hue = applies * augmentation.hue * rng.uniform(-1, 1, size=n)
    saturation = np.where(rng.random(n) < augmentation.grayscale, 0.0, saturation)
    return np.stack([x, y, half, mirror, brightness, contrast, saturation, hue], axis=1).astype(np.float32)


def vector_parameters(
    augmentation: Augmentation, n: int, renderings: int, width: int, seed: int, view: str, step: int
) -> NDArray[np.float32]:
    """[n, 1], which rendering each vector is; with mask or noise [n, 1 + 2D]: also a factor and an addend for each of
    its numbers.
    """
    rng = numpy_stream(seed, "augmentation", view, step)
    number = rng.integers(renderings, size=(n, 1)).astype(np.float32)
    if not (augmentation.mask or augmentation.noise):
        return number
    kept = rng.random((n, width), np.float32) >= augmentation.mask
    added = augmentation.noise * rng.standard_normal((n, width), np.float32)
    return np.concatenate([number, kept, added], axis=1, dtype=np.float32)
