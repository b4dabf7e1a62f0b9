"""`scenes` as a registered dataset."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from annotated_types import Ge

from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.scenes import dataset
from benchsuite.data.scenes.grammar import CLASS_NAMES, TEMPLATES
from benchsuite.fields import Count, Share
from benchsuite.paths import cache
from benchsuite.registry import register_dataset


@register_dataset("scenes", title="Scenes", license="Apache-2.0", download=False)
class Scenes(PairDataset):
    """Drawn 32x32 pictures of two objects with captions from a small grammar; made here in seconds, no download.

    Object pairs follow Zipf's law, many captions fit many pictures, and a share of the training pairs is mismatched, so
    that long tails, false negatives and noise are real. Classes: 10 shapes, 10 colours, and the 100 pairs of both.
    """

    class_names: ClassVar = CLASS_NAMES
    templates: ClassVar = TEMPLATES

    seed: Annotated[int, Ge(0)] = 2024
    """Of the data, not of a run."""
    train: Count = 12_000
    """Training pictures."""
    validation: Count = 1_000
    """Pictures for choosing what all rows share."""
    test: Count = 1_000
    """Pictures that are reported on."""
    gallery: Count = 200
    """Other pictures to report on, in a smaller set."""
    mismatched: Share = 0.05
    """Share of training pictures that carry another's captions."""

    def manifest(self) -> Manifest:
        told = dataset.manifest(self._folder)
        return Manifest(told["name"], told["version"], told["sizes"], told["digest"], told["parameters"])

    def read(self, split: str) -> Split:
        one = self._splits[split]
        return Split(split, one.images, one.captions, one.paraphrases, one.labels)

    @cached_property
    def _folder(self) -> Path:
        sizes = {"train": self.train, "validation": self.validation, "test": self.test, "gallery": self.gallery}
        return dataset.build(cache() / "datasets", self.seed, sizes, self.mismatched)

    @cached_property
    def _splits(self) -> dict[str, dataset.SceneSplit]:
        return dataset.load(self._folder)
