"""Which pairs, captions and looks each training step sees: a function of the seed and the step alone."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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
    captions: Sequence[str]
    looks: NDArray[np.float32]
    """`look_parameters`: how each picture is cropped and coloured."""


class Unsaid(Sequence[str]):
    """The paraphrases of a split that has none: views of pictures do without, views of texts are refused."""

    def __init__(self, split: str) -> None:
        self._split = split

    def __len__(self) -> int:
        return 0

    def __getitem__(self, index: Any) -> Any:
        raise UsageError(f"split {self._split} has no paraphrases, which a method with text views needs.")


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
        return epoch_order(self.seed, epoch, len(self.split))[place * self.batch : (place + 1) * self.batch].copy()

    def draw(self, step: int) -> Draw:
        """The pairs of a step with one of their captions and the first look of their pictures."""
        return self._draw(step, "first", self.split.captions)

    def draw_view(self, step: int) -> Draw:
        """The same pairs, with a paraphrase each and another look; where there is none, reading it is refused."""
        if self.augmentation.text_view == "dropout":
            first = self.draw(step)
            looks = look_parameters(self.augmentation, self.batch, self.seed, "view", step)
            return Draw(first.index, first.captions, looks)
        if not self.split.paraphrases:
            looks = look_parameters(self.augmentation, self.batch, self.seed, "view", step)
            return Draw(self.index(step), Unsaid(self.split.name), looks)
        return self._draw(step, "view", self.split.paraphrases)

    def draw_third(self, step: int) -> Draw:
        """The same pairs once more, with a third look; their words are the first draw's."""
        first = self.draw(step)
        looks = look_parameters(self.augmentation, self.batch, self.seed, "third", step)
        return Draw(first.index, first.captions, looks)

    def digest(self, steps: int = 4) -> str:
        """A digest of the first draws: equal for all methods under one seed, or the runs may not be paired."""
        sha = hashlib.sha256()
        for step in range(steps):
            draw = self.draw(step)
            sha.update(draw.index.astype("<i8").tobytes())
            sha.update("\n".join(draw.captions).encode())
            sha.update(draw.looks.astype("<f4").tobytes())
        return sha.hexdigest()[:16]

    def _draw(self, step: int, view: str, texts: Sequence[Sequence[str]]) -> Draw:
        index = self.index(step)
        words = numpy_stream(self.seed, "captions", view, step)
        chosen = [texts[i][int(words.integers(len(texts[i])))] for i in index]
        return Draw(index, chosen, look_parameters(self.augmentation, len(index), self.seed, view, step))


@lru_cache(maxsize=2)
def epoch_order(seed: int, epoch: int, count: int) -> NDArray[np.int64]:
    """The shuffled positions of an epoch; remembered, as shuffling millions takes longer than a step."""
    order = numpy_stream(seed, "order", epoch).permutation(count)
    order.flags.writeable = False
    return order


def look_parameters(augmentation: Augmentation, n: int, seed: int, view: str, step: int) -> NDArray[np.float32]:
    """[n, 8]: how each picture is augmented; `LOOK` names the columns."""
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


LOOK = ("x", "y", "half", "mirror", "brightness", "contrast", "saturation", "hue")
"""Centre and half-size of the crop in [-1, 1], mirror sign, three factors (saturation 0 is grey), turn of the hue."""
