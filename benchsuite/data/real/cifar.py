"""CIFAR-10 and CIFAR-100, as labelled images or as image-text pairs: from parquet files in the hub's layout."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, Split
from benchsuite.data.long_tail import long_tailed
from benchsuite.data.prompts import SMALL
from benchsuite.data.readers.from_library import FromLibrary, Wanted
from benchsuite.fields import Count, Finite
from benchsuite.files import packaged
from benchsuite.registry import register_dataset

CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR100 = tuple(packaged("data/real/cifar100.txt").splitlines())
TEMPLATES: Mapping[str, Sequence[str]] = {name: SMALL[name] for name in ("names", "cifar-18")}


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
        texts = self.prompts_for("class", self.captions)[0]
        content = [stored.digest, self.imbalance, self.seed if self.imbalance > 1 else 0, *texts]
        return replace(stored, splits=sizes, digest=short_digest(content))

    def read(self, split: str) -> Split:
        index, positions = self.index(split), self._positions(split)
        labels = index.labels()["class"][positions]
        images = index.images(self.size, self.fit, positions.tolist()).as_array()
        class_texts: Any = self.prompts_for("class", self.captions)
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


@register_dataset(
    "cifar10",
    title="CIFAR-10",
    license="none stated",
    download=True,
    hub="uoft-cs/cifar10@0b2714987fa478483af9968de7c934580d0bb9a2",
)
class Cifar10(Cifar):
    """50,000 and 10,000 real 32x32 images of 10 classes, from parquet files in the hub's layout.

    Splits train and test; classes "class". `imbalance` makes CIFAR-10-LT of the training split.
    """

    _label: ClassVar = "label"
    class_names: ClassVar = {"class": CIFAR10}


@register_dataset(
    "cifar10-captions", title="CIFAR-10 with captions", license="none stated", download=True, source="cifar10"
)
class Cifar10Captions(Cifar10):
    """CIFAR-10 as image-text pairs: the captions of an image are its class name in CLIP's 18 templates.

    All pairs of a class have the same captions, so they are false negatives of one another. Retrieval of single images
    means little here; classes are what there is to learn.
    """

    captions = "cifar-18"


@register_dataset(
    "cifar100",
    title="CIFAR-100",
    license="none stated",
    download=True,
    hub="uoft-cs/cifar100@aadb3af77e9048adbea6b47c21a81e47dd092ae5",
)
class Cifar100(Cifar):
    """50,000 and 10,000 real 32x32 images of 100 classes, from parquet files in the hub's layout.

    Splits train and test; classes "class", the fine labels. `imbalance` makes CIFAR-100-LT of the training split.
    """

    _label: ClassVar = "fine_label"
    class_names: ClassVar = {"class": CIFAR100}


@register_dataset(
    "cifar100-captions", title="CIFAR-100 with captions", license="none stated", download=True, source="cifar100"
)
class Cifar100Captions(Cifar100):
    """CIFAR-100 as image-text pairs: the captions of an image are its class name in CLIP's 18 templates."""

    captions = "cifar-18"
