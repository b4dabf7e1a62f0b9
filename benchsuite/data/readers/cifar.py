"""What the CIFAR data sets share: labelled parquet files in, images, class names as captions and labels out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, Split
from benchsuite.data.long_tail import long_tailed
from benchsuite.data.prompts import CIFAR_18, NAMES
from benchsuite.data.readers.from_library import FromLibrary, Wanted
from benchsuite.errors import unknown
from benchsuite.fields import Count, Finite

TEMPLATES: Mapping[str, Sequence[str]] = {"names": NAMES, "cifar-18": CIFAR_18}


class Cifar(FromLibrary):
    """Base of the CIFAR data sets: say what the classes are, and which column has them."""

    _label: ClassVar[str]
    _read_later: ClassVar = (*FromLibrary._read_later, "imbalance", "seed", "captions")
    templates: ClassVar = TEMPLATES

    folder: str = ""
    """A local folder of the hub's parquet files, or a hub name. Not part of the identity; the digest is."""
    imbalance: Annotated[float, Ge(1), Finite] = 1.0
    """Size of the largest training class over that of the smallest: 100, 50 or 10 for the long-tailed versions."""
    seed: Annotated[int, Ge(0)] = 0
    """Which images a long-tailed version keeps."""
    captions: str = "names"
    """The set of templates that turns class names into captions: names, or cifar-18."""
    size: Count = 32
    """Side to which images are enlarged, for towers that were trained on larger ones."""

    def manifest(self) -> Manifest:
        stored = super().manifest()
        sizes = {split: len(self._positions(split)) for split in stored.splits}
        content = [stored.digest, self.imbalance, self.seed if self.imbalance > 1 else 0, *self._texts(0)]
        return replace(stored, splits=sizes, digest=short_digest(content), about={"content": stored.digest})

    def read(self, split: str) -> Split:
        index, positions = self.index(split), self._positions(split)
        labels = index.labels()["class"][positions]
        images = index.images(self.size, self.fit, positions.tolist()).as_array()
        class_texts = [self._texts(label) for label in range(len(self.class_names["class"]))]
        captions = [class_texts[label] for label in labels]
        return Split(split, images, captions, captions, {"class": labels})

    def _wanted(self, splits: Mapping[str, Any]) -> Wanted:
        asked: dict[str, tuple[Sequence[str], Sequence[str]]] = {"image": (["img"], ()), "label": ([self._label], ())}
        return Wanted(asked, self.class_names["class"], {"train": "train", "test": "test"})

    def _positions(self, split: str) -> NDArray[np.int64]:
        """Of the images that are used: all, or those that a long-tailed version keeps."""
        labels = self.index(split).labels()["class"]
        if split != "train" or self.imbalance == 1:
            return np.arange(len(labels))
        return long_tailed(labels, self.imbalance, self.seed)

    def _texts(self, label: int) -> list[str]:
        if self.captions not in self.templates:
            raise unknown("set of templates", self.captions, self.templates, f"{self.card.name}: ")
        return [template.format(self.class_names["class"][label]) for template in self.templates[self.captions]]
