"""`latents-images`: vectors of images alone, for one tower."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from benchsuite.data.cached import Columns
from benchsuite.data.long_tail import long_tailed
from benchsuite.data.synthetic import latent_world as world
from benchsuite.data.synthetic.base import Synthetic
from benchsuite.data.synthetic.scene_world import stream
from benchsuite.fields import Count, Finite
from benchsuite.registry import register_dataset

CONCEPTS = 100
LOOK = world.Look(salience=(1.0, 0.5, 0.5, 0.5), nuisance=3.0, redrawn=1.0)
CLASSES = {"concept": CONCEPTS, "group": world.GROUPS}


@register_dataset("latents-images", title="Latents, images alone", license="Apache-2.0", download=False)
class LatentsImages(Synthetic):
    """Vectors of 128 numbers for images without captions, each of a concept among three others; no download.

    An image is rendered several times; most of what is in its numbers is nuisance that another rendering draws anew,
    which two views teach to ignore. Classes: the concept that counts most, of 100, and its group, of 10, all equally
    frequent. `imbalance` gives the training split a long tail over one of the two, as CIFAR-10-LT and CIFAR-100-LT
    have it.
    """

    version: ClassVar = 2
    shows: ClassVar = "vectors"
    redrawn: ClassVar = "seed"
    captioned: ClassVar = False
    splits: ClassVar = ("train", "validation", "test")
    labels: ClassVar = ("concept", "group", "tail")
    class_names: ClassVar = {kind: [f"{kind} {i}" for i in range(n)] for kind, n in CLASSES.items()}

    train: Count = 10_000
    """Training images, before a long tail is cut."""
    validation: Count = 2_000
    """Images for tuning."""
    test: Count = 2_000
    """Images that are reported on."""
    renderings: Count = 4
    """Vectors of each training image."""
    imbalance: Annotated[float, Ge(1), Finite] = 1.0
    """Size of the largest training class over that of the smallest."""
    long_tail: Literal["concept", "group"] = "concept"
    """Which classes have the long tail, if there is an imbalance."""

    @property
    def _sizes(self) -> dict[str, int]:
        return super()._sizes | ({"train": len(self.scenes("train"))} if self.imbalance > 1 else {})

    def columns(self, split: str) -> Columns:
        scenes = self.scenes(split)
        renderings = self.renderings if split == "train" else 1
        draw = stream(self.seed, 12, self.splits.index(split))
        first = scenes[:, 0]
        return {
            "images": world.World.of(self.seed, CONCEPTS).images(scenes, renderings, draw, LOOK),  # [N, V, WIDTH]
            "concept": first,
            "group": world.group(first),
            "tail": (self._ids(scenes) >= CLASSES[self.long_tail] // 2).astype(np.int64),
        }

    def scenes(self, split: str) -> world.Ints:
        """[N, PER_SCENE] concepts of each image; of a training split with a long tail, those that are kept."""
        scenes = world.imagine(self.seed, 10 + self.splits.index(split), getattr(self, split), CONCEPTS, zipf=0.0)
        cut = split == "train" and self.imbalance > 1
        return scenes[long_tailed(self._ids(scenes), self.imbalance, self.seed % 2**32)] if cut else scenes

    def _ids(self, scenes: world.Ints) -> world.Ints:
        return scenes[:, 0] if self.long_tail == "concept" else world.group(scenes[:, 0])
