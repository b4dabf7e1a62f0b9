"""Which pairs, captions and crops each training step sees: a function of the seed and the step alone."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import Split
from benchsuite.errors import UsageError
from benchsuite.setup import Augmentation
from benchsuite.streams import numpy_stream


@dataclass(frozen=True)
class Draw:
    """One step's draws. A second view has draws of its own, so that methods without views see the same first ones."""

    index: NDArray[np.int64]
    captions: list[str]
    crops: NDArray[np.float32]


@dataclass(frozen=True)
class BatchPlan:
    """The training's draws under one seed. Epochs are shuffled; an epoch's last, incomplete batch is dropped."""

    split: Split
    batch: int
    augmentation: Augmentation
    seed: int

    def __post_init__(self) -> None:
        if self.batch > len(self.split):
            raise UsageError(f"batch {self.batch} is larger than split {self.split.name} with {len(self.split)} pairs.")

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in the split."""
        return len(self.split) // self.batch

    def index(self, step: int) -> NDArray[np.int64]:
        """Positions of the step's pairs."""
        epoch, place = divmod(step, self.steps_per_epoch)
        order = numpy_stream(self.seed, "order", epoch).permutation(len(self.split))
        return order[place * self.batch : (place + 1) * self.batch]

    def draw(self, step: int) -> Draw:
        """The pairs of a step with one of their captions and the first crop of their pictures."""
        return self._draw(step, "first", self.split.captions)

    def draw_view(self, step: int) -> Draw:
        """The same pairs again, with a paraphrase each and another crop."""
        if not self.split.paraphrases:
            raise UsageError(f"split {self.split.name} has no paraphrases, which a method with text views needs.")
        return self._draw(step, "view", self.split.paraphrases)

    def digest(self, steps: int = 4) -> str:
        """A digest of the first draws: equal for all methods under one seed, or the runs may not be paired."""
        sha = hashlib.sha256()
        for step in range(steps):
            draw = self.draw(step)
            sha.update(draw.index.astype("<i8").tobytes())
            sha.update("\n".join(draw.captions).encode())
            sha.update(draw.crops.astype("<f4").tobytes())
        return sha.hexdigest()[:16]

    def _draw(self, step: int, view: str, texts: Sequence[Sequence[str]]) -> Draw:
        index = self.index(step)
        words = numpy_stream(self.seed, "captions", view, step)
        chosen = [texts[i][int(words.integers(len(texts[i])))] for i in index]
        return Draw(index, chosen, crop_parameters(self.augmentation, len(index), self.seed, view, step))


def crop_parameters(augmentation: Augmentation, n: int, seed: int, view: str, step: int) -> NDArray[np.float32]:
    """[n, 6]: the crop's centre x, y and half-size in [-1, 1], mirror sign, brightness and contrast factors."""
    rng = numpy_stream(seed, "augmentation", view, step)
    half = np.sqrt(rng.uniform(*augmentation.crop, size=n))
    x, y = (rng.uniform(-1, 1, size=n) * (1 - half) for _ in range(2))
    mirror = np.where(rng.random(n) < 0.5, -1.0, 1.0) if augmentation.flip else np.ones(n)
    brightness = 1 + augmentation.brightness * rng.uniform(-1, 1, size=n)
    contrast = 1 + augmentation.contrast * rng.uniform(-1, 1, size=n)
    return np.stack([x, y, half, mirror, brightness, contrast], axis=1).astype(np.float32)
