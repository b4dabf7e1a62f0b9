"""Generated data in the place of a recipe's: a plugin file, which the processes of start.py load."""

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.readers.images import LazyArray
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

NAME, LABELS, EVALUATED = "stand-in", "class", "test"
BANK = 16
"""Images that are there; a split repeats them."""
EVALUATED_ROWS = 4


class Repeated(LazyArray):
    """Noise, repeated up to any number of rows."""

    def __init__(self, count: int, row: tuple[int, ...]) -> None:
        super().__init__(count, row)
        self._bank = np.random.default_rng(0).integers(256, size=(BANK, *row), dtype=np.uint8)

    def _row(self, i: int) -> NDArray[np.uint8]:
        row: NDArray[np.uint8] = self._bank[i % BANK]
        return row


@register_dataset(NAME, title="Generated rows of a recipe's shape")
class StandIn(PairDataset):
    """Noise with captions of made-up words, different enough to fill a tokenizer's vocabulary."""

    rows: Count = 64
    """Of the training split."""
    shape: list[int] = []
    """Of an image; of vectors their width."""
    words: int = 0
    """Of a caption; 0: there are no captions of words."""
    captions: Count = 1
    """Of each row."""

    def manifest(self) -> Manifest:
        return Manifest(NAME, 1, {"train": self.rows, EVALUATED: EVALUATED_ROWS}, short_digest(self.options()))

    def read(self, split: str) -> Split:
        rows = self.manifest().splits[split]
        labels = {LABELS: np.arange(rows, dtype=np.int64) % 2}
        if len(self.shape) == 1:
            vectors = np.random.default_rng(0).standard_normal((rows, 1, *self.shape), dtype=np.float32)
            return Split(split, vectors, vectors[:, ::-1], vectors, labels)
        texts = [[self._text(row, number) for number in range(self.captions)] for row in range(rows)]
        words = texts if self.words else ()
        return Split(split, Repeated(rows, tuple(self.shape)).as_array(), words, words, labels)

    def _text(self, row: int, number: int) -> str:
        first = (row * self.captions + number) * self.words
        return " ".join(_word(first + place) for place in range(self.words))


StandIn.class_names = {LABELS: ["even", "odd"]}


def _word(number: int) -> str:
    """Letters that differ from word to word."""
    letters = ""
    while number or not letters:
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    return letters
