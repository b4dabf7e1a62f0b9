"""CIFAR-10 and CIFAR-100: real pictures of 32x32 that a laptop can train on."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.real.cifar_names import CIFAR10, CIFAR100
from benchsuite.data.real.long_tail import long_tailed
from benchsuite.data.real.parquet import Decoded, Layout, load
from benchsuite.data.real.pictures import LazyPictures
from benchsuite.data.real.prompts import CIFAR_18, NAMES
from benchsuite.errors import unknown
from benchsuite.fields import Count, Finite
from benchsuite.registry import register_dataset

TEMPLATES: Mapping[str, Sequence[str]] = {"names": NAMES, "cifar-18": CIFAR_18}


class Cifar(PairDataset):
    """What the datasets below share: parquet files in, pictures, class names as captions and labels out."""

    _layout: ClassVar[Layout]
    templates: ClassVar = TEMPLATES

    folder: str = ""
    """A local folder of the hub's parquet files, or a hub name. No part of a setup's identity; the digest is."""
    imbalance: Annotated[float, Ge(1), Finite] = 1.0
    """Size of the largest training class over that of the smallest: 100, 50 or 10 for the long-tailed versions."""
    seed: Annotated[int, Ge(0)] = 0
    """Which pictures a long-tailed version keeps."""
    captions: str = "names"
    """The set of templates that turns class names into captions: names, or cifar-18."""
    size: Count = 32
    """Side to which pictures are enlarged, for towers that were trained on larger ones."""

    def manifest(self) -> Manifest:
        sizes = {split: len(self._kept(split)) for split in self._layout.splits}
        content = [self._decoded.digest, self.imbalance, self.seed if self.imbalance > 1 else 0, *self._texts(0)]
        return Manifest(self._layout.dataset, 1, sizes, short_digest(content), {"content": self._decoded.digest})

    def read(self, split: str) -> Split:
        stored, kept = self._decoded.splits[split], self._kept(split)
        whole = len(kept) == len(stored.labels)
        labels = stored.labels[kept]
        texts = [self._texts(one) for one in range(len(self._layout.classes))]
        said = [texts[one] for one in labels]
        pictures = stored.pictures if whole else stored.pictures[kept]
        if self.size != self._layout.side:
            pictures = enlarged(pictures, self.size, f"{self._layout.dataset}, {split}")
        return Split(split, pictures, said, said, {"class": labels})

    def _kept(self, split: str) -> NDArray[np.int64]:
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
        return load(self.folder, self._layout)


@register_dataset("cifar10", title="CIFAR-10", license="none stated", download=True)
class Cifar10(Cifar):
    """50,000 and 10,000 real 32x32 pictures of 10 classes, from parquet files in the hub's layout.

    Splits train and test; classes "class". `imbalance` makes CIFAR-10-LT of the training split.
    """

    _layout: ClassVar = Layout("cifar10", "img", "label", CIFAR10, 32)
    class_names: ClassVar = {"class": CIFAR10}


@register_dataset(
    "cifar10-captions", title="CIFAR-10 with captions", license="none stated", download=True, source="cifar10"
)
class Cifar10Captions(Cifar10):
    """CIFAR-10 as picture-text pairs: each picture is said to be its class, in CLIP's 18 wordings.

    Captions tell no two pictures of a class apart, so that all pairs of a class are false negatives of one another;
    retrieval of single pictures means little here, classes are what there is to learn.
    """

    captions = "cifar-18"


@register_dataset("cifar100", title="CIFAR-100", license="none stated", download=True)
class Cifar100(Cifar):
    """50,000 and 10,000 real 32x32 pictures of 100 classes, from parquet files in the hub's layout.

    Splits train and test; classes "class", the fine labels. `imbalance` makes CIFAR-100-LT of the training split.
    """

    _layout: ClassVar = Layout("cifar100", "img", "fine_label", CIFAR100, 32)
    class_names: ClassVar = {"class": CIFAR100}


@register_dataset(
    "cifar100-captions", title="CIFAR-100 with captions", license="none stated", download=True, source="cifar100"
)
class Cifar100Captions(Cifar100):
    """CIFAR-100 as picture-text pairs: each picture is said to be its class, in CLIP's 18 wordings."""

    captions = "cifar-18"


def enlarged(pictures: NDArray[np.uint8], size: int, name: str) -> NDArray[np.uint8]:
    """The same pictures at another size, resampled when they are asked for."""
    from PIL import Image

    sized = LazyPictures(len(pictures), size, lambda i: Image.fromarray(pictures[i]), lambda i: f"{name}, picture {i}")
    return sized.as_array()
