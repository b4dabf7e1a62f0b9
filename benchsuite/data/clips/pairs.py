"""`clips` as a registered dataset."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from annotated_types import Ge

from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.clips import dataset
from benchsuite.data.clips.grammar import CLASS_NAMES, TEMPLATES
from benchsuite.fields import Count
from benchsuite.paths import cache
from benchsuite.registry import register_dataset


@register_dataset("clips", title="Clips", license="Apache-2.0", download=False)
class Clips(PairDataset):
    """Drawn clips of 8 frames, 32x32, in which something is done to an object; made here in seconds, no download.

    Narrations in the manner of EPIC-KITCHENS ("raise red circle near blue star"), 12 verb and 40 noun classes, each
    with a long tail. Labels: `verb`, `noun` and `verb_noun` of the moved object, for clusters and classification, and
    `nouns`, the set of noun classes in sight (-1: no second one), for the relevancy of multi-instance retrieval.
    """

    shows: ClassVar = "clips"
    class_names: ClassVar = CLASS_NAMES
    templates: ClassVar = TEMPLATES

    seed: Annotated[int, Ge(0)] = 2024
    """Of the data, not of a run."""
    train: Count = 6_000
    """Training clips."""
    validation: Count = 500
    """Clips for choosing what all rows share."""
    test: Count = 1_000
    """Clips that are reported on."""

    def manifest(self) -> Manifest:
        told = dataset.manifest(self._folder)
        return Manifest(told["name"], told["version"], told["sizes"], told["digest"], told["parameters"])

    def read(self, split: str) -> Split:
        one = self._splits[split]
        return Split(split, one.images, one.captions, one.paraphrases, {**one.labels, "nouns": one.nouns})

    @cached_property
    def _folder(self) -> Path:
        sizes = {"train": self.train, "validation": self.validation, "test": self.test}
        return dataset.build(cache() / "datasets", self.seed, sizes)

    @cached_property
    def _splits(self) -> dict[str, dataset.ClipSplit]:
        return dataset.load(self._folder)
