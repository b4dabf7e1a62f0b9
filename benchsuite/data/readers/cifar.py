"""What the CIFAR data sets share: labelled parquet files in, images, class names as captions and labels out."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.long_tail import long_tailed
from benchsuite.data.prompts import CIFAR_18, NAMES
from benchsuite.data.readers.images import LazyImages
from benchsuite.data.readers.parquet import Decoded, Layout, load_labelled
from benchsuite.errors import unknown
from benchsuite.fields import Count, Finite

TEMPLATES: Mapping[str, Sequence[str]] = {"names": NAMES, "cifar-18": CIFAR_18}


class Cifar(PairDataset):
    """Base of the CIFAR data sets: say what the parquet files hold."""

    _layout: ClassVar[Layout]
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
        sizes = {split: len(self._positions(split)) for split in self._layout.splits}
        content = [self._decoded.digest, self.imbalance, self.seed if self.imbalance > 1 else 0, *self._texts(0)]
        return Manifest(self.card.name, 1, sizes, short_digest(content), {"content": self._decoded.digest})

    def read(self, split: str) -> Split:
        stored, positions = self._decoded.splits[split], self._positions(split)
        labels = stored.labels[positions]
        images = stored.images if len(positions) == len(stored.labels) else stored.images[positions]
        if self.size != self._layout.side:
            images = enlarged(images, self.size, f"{self._layout.dataset}, {split}")
        class_texts = [self._texts(label) for label in range(len(self._layout.classes))]
        captions = [class_texts[label] for label in labels]
        return Split(split, images, captions, captions, {"class": labels})

    def _positions(self, split: str) -> NDArray[np.int64]:
        """Of the images that are used: all, or those that a long-tailed version keeps."""
        labels = self._decoded.splits[split].labels
        if split != "train" or self.imbalance == 1:
            return np.arange(len(labels))
        return long_tailed(labels, self.imbalance, self.seed)

    def _texts(self, label: int) -> list[str]:
        if self.captions not in self.templates:
            raise unknown("set of templates", self.captions, self.templates, f"{self.card.name}: ")
        return [template.format(self._layout.classes[label]) for template in self.templates[self.captions]]

    @cached_property
    def _decoded(self) -> Decoded:
        return load_labelled(self.folder, self._layout)


def enlarged(images: NDArray[np.uint8], size: int, name: str) -> NDArray[np.uint8]:
    """The same images at another size, resampled when they are asked for."""
    from PIL import Image

    sized = LazyImages(len(images), size, lambda i: Image.fromarray(images[i]), lambda i: f"{name}, image {i}")
    return sized.as_array()
