from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split


class Pictures(PairDataset):
    """Three pictures, of two colours, with one or two captions each."""

    card: ClassVar = Card("dataset", "pictures", __name__, "Pictures", "tests", __file__, "")
    class_names: ClassVar = {"colour": ["red", "blue"]}
    templates: ClassVar = {"one": ["{}"], "two": ["{}", "a {} thing"]}

    def manifest(self) -> Manifest:
        return Manifest("pictures", 1, {"test": 3}, "0")

    def read(self, split: str) -> Split:
        captions = [["red"], ["blue", "sky"], ["sea"]]
        return Split(split, np.zeros((3, 2, 2, 3), np.uint8), captions, labels={"colour": np.array([0, 1, 1])})


class FakeEmbedder:
    """Embeddings by hand, normalised as the real ones are."""

    def __init__(self, images: Sequence[Sequence[float]], texts: Mapping[str, Sequence[float]]) -> None:
        self._images, self._texts = images, texts

    def once(self, what: object, compute: Callable[[], Any]) -> Any:
        return compute()

    def images(self, split: Split) -> Tensor:
        return normalize(torch.tensor(self._images), dim=-1)

    def texts(self, texts: Sequence[str]) -> Tensor:
        return normalize(torch.tensor([self._texts[text] for text in texts]), dim=-1)


@pytest.fixture
def pictures() -> PairDataset:
    return Pictures()


@pytest.fixture
def fake() -> Any:
    return FakeEmbedder
