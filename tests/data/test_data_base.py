from typing import ClassVar

import numpy as np
import pytest

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.fields import Count

PICTURES = np.zeros((2, 4, 4, 3), np.uint8)


class Tiny(PairDataset):
    card: ClassVar = Card("dataset", "tiny", __name__, "Tiny", "tests", __file__, "")
    size: Count = 2

    def manifest(self) -> Manifest:
        return Manifest("tiny", 1, {"train": self.size, "test": self.size}, "0")

    def read(self, split: str) -> Split:
        return Split(split, PICTURES, [["a"], ["b"]])


def test_a_split_is_read_by_name_and_once() -> None:
    data = Tiny()
    first = data.split("test")
    assert (first.name, len(first)) == ("test", 2)
    assert data.split("test") is first
    assert data.split("train") is not first


def test_an_unknown_split_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match=r'tiny: split "tset" does not exist \(known: test, train\)\. Did you mean'):
        Tiny().split("tset")


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([[["a"]]], "split test: 2 images but 1 lists of captions"),
        ([[["a"], ["b"]], [["c"]]], "2 images but 1 lists of paraphrases"),
        ([[["a"], []]], "split test: image 1 has no caption"),
        ([[["a"], ["b"]], [["c"], []]], "image 1 has no paraphrase"),
    ],
)
def test_each_image_must_have_its_captions_and_paraphrases(texts: list[list[list[str]]], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Split("test", PICTURES, *texts)


def test_a_split_may_have_no_captions_and_names_who_asks_for_them() -> None:
    split = Split("test", PICTURES)
    assert len(split) == 2
    with pytest.raises(UsageError, match="split test has no captions, which retrieval needs"):
        split.captions_for("retrieval")
