"""The contract of a data set: named splits of images with their captions, and a manifest that identifies them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benchsuite.cards import Card
from benchsuite.errors import UsageError, unknown
from benchsuite.fields import Options

Shows = Literal["images", "clips", "vectors", "nothing"]
Vectors = NDArray[np.float32]
Texts = Sequence[str] | Sequence[Vectors]
"""What a text tower is given: words, or in a dataset of vectors, vectors."""


@dataclass(frozen=True)
class Manifest:
    """What identifies a data set: equal digests mean equal bytes."""

    name: str
    version: int
    splits: Mapping[str, int]
    digest: str
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Split:
    """Images and their captions.

    `images` may be any array-like that yields uint8 [n, H, W, 3] for an index, or, for clips of T frames,
    [n, T, H, W, 3]. In a dataset of vectors images are float32 [N, V, D], V renderings of each, and captions and
    paraphrases are [N, K, D].
    """

    name: str
    images: NDArray[Any]
    captions: Sequence[Sequence[str]] | Vectors
    """One or more captions for each image; a training step draws one, retrieval uses all."""
    paraphrases: Sequence[Sequence[str]] | Vectors = ()
    """Other captions of the same image, for text views."""
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Class ids by name of the set of classes, [N]; several ids for each image are [N, K], padded with -1."""

    def __post_init__(self) -> None:
        n = len(self.images)
        for kind, lists in (("caption", self.captions), ("paraphrase", self.paraphrases)):
            if len(lists) != n and (kind == "caption" or len(lists)):
                raise UsageError(f"split {self.name}: {n} images but {len(lists)} lists of {kind}s.")
            if not isinstance(lists, np.ndarray) and (empty := [i for i, texts in enumerate(lists) if not texts]):
                raise UsageError(f"split {self.name}: image {empty[0]} has no {kind}.")

    def __len__(self) -> int:
        return len(self.images)

    @property
    def is_vectors(self) -> bool:
        """Whether images and captions are vectors."""
        return len(self.images.shape) == 3


class PairDataset(Options, ABC):
    """A data set of image-text pairs. Annotate its options, implement the two abstract methods, register it."""

    _owns_no_fields: ClassVar = True
    card: ClassVar[Card]
    shows: ClassVar[Shows] = "images"
    """What `images` of its splits hold; a plan refuses towers that take something else."""
    class_names: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Names of the classes of each labelled set, for zero-shot classification."""
    templates: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Named sets of prompt templates with one {} for the class name."""

    def __init__(self, **options: Any) -> None:
        self.resolve(options)

    def prompts(self, classes: str, templates: str) -> Sequence[Sequence[str]] | Vectors:
        """For each class of a set, its prompts: its name in each template."""
        for what, name, known in (("classes", classes, self.class_names), ("templates", templates, self.templates)):
            if name not in known:
                raise unknown(f"set of {what}", name, known, f"{self.card.name}: ")
        return [[template.format(n) for template in self.templates[templates]] for n in self.class_names[classes]]

    @abstractmethod
    def manifest(self) -> Manifest:
        """Identity of the data under these options. May build and cache it."""

    @abstractmethod
    def read(self, split: str) -> Split:
        """The split of that name."""

    def split(self, name: str) -> Split:
        """The split of that name, or an error that lists the splits."""
        if name not in self.manifest().splits:
            raise unknown("split", name, self.manifest().splits, where=f"{self.card.name}: ")
        return self.read(name)
