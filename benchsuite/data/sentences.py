"""Pairs of sentences with a gold similarity, and the contract of a data set that has them."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UnknownError


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
