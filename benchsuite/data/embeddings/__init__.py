"""Frozen embeddings of captions and images, for clusters and experts; each registered by its decorator."""

from abc import ABC
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from benchsuite.cards import Card
from benchsuite.errors import UsageError
from benchsuite.fields import Options
from benchsuite.registry import embeddings

Matrix = NDArray[np.float32]
Embedded = Matrix | Iterator[Matrix]
"""All rows, or blocks of them where millions must not be in memory together."""


class Embedding(Options, ABC):
    """Embeds texts, images, or both, without being trained here. Annotate its options, register it."""

    _owns_no_fields: ClassVar = True
    card: ClassVar[Card]

    def load(self) -> object:
        """What it reads from the hub or a folder; refuses, in words, what is not there."""
        return None

    def texts(self, texts: Iterable[str]) -> Embedded:
        """A row for each text; they can be gone through once."""
        raise UsageError(f"{self.card.name} embeds no texts.")

    def images(self, images: NDArray[np.uint8]) -> Embedded:
        """A row for each image of uint8 [N, H, W, 3], which may be decoded only when sliced."""
        raise UsageError(f"{self.card.name} embeds no images.")


def create_embedding(name: str, **options: Any) -> Embedding:
    """An embedding by its registered name."""
    return cast(type[Embedding], embeddings.get(name))(**options)
