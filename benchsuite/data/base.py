"""The contract of a data set: named splits of images with or without captions, and a manifest that identifies them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benchsuite.cards import Card
from benchsuite.data.vectors import TextLists, VectorLists
from benchsuite.errors import UnknownError, UsageError, require_known
from benchsuite.fields import Options

Shows = Literal["images", "clips", "vectors", "nothing"]
Vectors = NDArray[np.float32]
Texts = Sequence[str] | Sequence[Vectors]
"""What a text tower is given: words, or in a dataset of vectors, vectors."""
TextsOfImages = Sequence[Sequence[str]] | Vectors | VectorLists | TextLists
"""The texts of each image."""


@dataclass(frozen=True)
class Manifest:
    """What identifies a data set: equal digests mean equal bytes."""

    name: str
    version: int
    splits: Mapping[str, int]
    digest: str
    about: Mapping[str, Any] = field(default_factory=dict)
    """Anything else to tell, such as the licences of the images."""
    paraphrases: str | None = None
    """Digest of the paraphrases where `digest` does not cover them: a run without text views does not read them."""


@dataclass(frozen=True)
class Split:
    """Images and their captions.

    `images` may be any array-like that yields uint8 [n, H, W, 3] for an index, or, for clips of T frames,
    [n, T, H, W, 3]. In a dataset of vectors images are float32 [N, V, D], V renderings of each, and captions and
    paraphrases are [N, K, D], or `VectorLists` where their number differs or they stay on disk. Words may stay on disk
    as mapped `TextLists`, which were checked when they were written.
    """

    name: str
    images: NDArray[Any]
    captions: TextsOfImages = ()
    """One or more captions for each image; a training step draws one, retrieval uses all. Empty: there are none."""
    paraphrases: TextsOfImages = ()
    """Other captions of the same image, for text views."""
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Class ids by name of the set of classes, [N]; several ids for each image are [N, K], padded with -1."""

    def __post_init__(self) -> None:
        n = len(self.images)
        for kind, lists in (("caption", self.captions), ("paraphrase", self.paraphrases)):
            if len(lists) == 0:
                continue
            if len(lists) != n:
                raise UsageError(f"split {self.name}: {n} images but {len(lists)} lists of {kind}s.")
            if not isinstance(lists, np.ndarray | VectorLists | TextLists) and (
                empty := [i for i, texts in enumerate(lists) if not texts]
            ):
                raise UsageError(f"split {self.name}: image {empty[0]} has no {kind}.")

    def __len__(self) -> int:
        return len(self.images)

    @property
    def is_vectors(self) -> bool:
        """Whether images and captions are vectors."""
        return len(self.images.shape) == 3

    def captions_for(self, reader: str) -> TextsOfImages:
        """The captions, or an error that names who reads them."""
        if len(self.captions) == 0 and len(self):
            raise UsageError(f"split {self.name} has no captions, which {reader} needs.")
        return self.captions


class PairDataset(Options, ABC):
    """A data set of image-text pairs, or of one side alone. Annotate its options, implement the two abstract methods,
    register it.
    """

    _owns_no_fields: ClassVar = True
    card: ClassVar[Card]
    redrawn: ClassVar[str] = ""
    """The option by which each replicate of a comparison draws or cuts data of its own; "": all have the same data."""
    apart: ClassVar[Sequence[str]] = ()
    """Options that decide nothing but paraphrases with a digest of their own. Like folders, they are not hashed."""
    shows: ClassVar[Shows] = "images"
    """What `images` of its splits hold; a plan refuses towers that take something else."""
    only_counted: ClassVar[bool] = False
    """Whether its items are drawn numbers that nobody can look at: a record keeps how often each rank came, not for
    which query, and not what was nearest.
    """
    captioned: ClassVar[bool] = True
    """Whether its splits have captions; if not, a plan refuses text towers."""
    class_names: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Names of the classes of each labelled set, for zero-shot classification."""
    templates: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Named sets of prompt templates with one {} for the class name."""

    def prompts_for(self, classes: str, templates: str) -> Sequence[Sequence[str]] | Vectors:
        """For each class of a set, its prompts: its name in each template."""
        names, chosen = self.classes_of(classes), self.templates_of(templates)
        return [[template.format(name) for template in chosen] for name in names]

    def classes_of(self, name: str) -> Sequence[str]:
        """The names of a set of classes; refused if there is no such set."""
        require_known("set of classes", name, self.class_names, f"{self.card.name}: ")
        return self.class_names[name]

    def templates_of(self, name: str) -> Sequence[str]:
        require_known("set of templates", name, self.templates, f"{self.card.name}: ")
        return self.templates[name]

    @abstractmethod
    def manifest(self) -> Manifest:
        """Identity of the data under these options. May build and cache it."""

    @abstractmethod
    def read(self, split: str) -> Split:
        """The split of that name."""

    def in_words(self, split: str) -> Sequence[tuple[str, str]]:
        """For readers, of each image of a split what it shows and its caption, as text. A dataset that knows them says
        `in_words=True` in its decorator.
        """
        return ()

    def in_pictures(self, split: str) -> Sequence[bytes]:
        """For readers, of each image of a split a small picture of what it shows, as WebP; without them, none."""
        return ()

    def split(self, name: str) -> Split:
        """The split of that name, or an error that lists the splits. Protocols of a run share it: it is read once."""
        if name not in self._known_splits:
            require_known("split", name, self.manifest().splits, where=f"{self.card.name}: ")
            self._known_splits[name] = self.read(name)
        return self._known_splits[name]

    @cached_property
    def _known_splits(self) -> dict[str, Split]:
        return {}


@dataclass(frozen=True)
class SentencePairs:
    """Sentences a[i] and b[i], and their gold similarity."""

    a: Sequence[str]
    b: Sequence[str]
    gold: NDArray[np.float64]


class SimilarityDataset(PairDataset):
    """A data set without images, for the task sts: similarity sets by name, each with its subsets."""

    _owns_no_fields: ClassVar = True

    @abstractmethod
    def pairs(self, name: str) -> Mapping[str, SentencePairs]:
        """The subsets of a similarity set by name."""

    def read(self, split: str) -> Split:
        raise UnknownError("split", split, (), f"{self.card.name}: ")
