"""MMVP-VLM: pairs of images that CLIP embeds alike, and a statement for each of the two."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.readers.files import files_digest, require_file, require_folder
from benchsuite.data.readers.images import image_files
from benchsuite.data.readers.tables import read_csv
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

LAYOUT = (
    "Questions.csv (columns Question ID, Type, Statement) and MLLM_VLM Images/<Type>/<Question ID>.jpg, as in the "
    "published MMVP_VLM"
)
COLUMNS = ("Question ID", "Type", "Statement")
PATTERNS = (
    "orientation",
    "presence",
    "state",
    "quantity",
    "positional",
    "colour",
    "structural",
    "texts",
    "viewpoint",
)
"""The nine groups in the order of the file, by the first word of their published names."""


@dataclass(frozen=True)
class Question:
    """One row: a statement that is true of its own image and not of its neighbour's."""

    number: int
    kind: str
    statement: str
    image: str
    """Its file, by name under the folder."""


@register_dataset("mmvp", title="MMVP-VLM", license="MIT", download=True)
class Mmvp(PairDataset):
    """135 pairs of images of 9 visual patterns with a statement each; rows 2i and 2i + 1 are pair i.

    Read from the published folder: Questions.csv and the images under "MLLM_VLM Images". Split test; classes
    "pattern", one of nine: equal runs of pairs in the order of the file, as the published evaluation counts them.
    """

    class_names: ClassVar = {"pattern": PATTERNS}

    folder: str = ""
    """The published folder. Not part of the identity; the digest is."""
    size: Count = 224
    """Side in pixels to which images are resized: the shorter side fitted, the middle cut out."""

    def manifest(self) -> Manifest:
        images = {f"{q.kind}/{q.number}": self._root / q.image for q in self._questions}
        digest = files_digest({"Questions.csv": self._root / "Questions.csv", **images})
        return Manifest("mmvp", 1, {"test": len(self._questions)}, digest)

    def read(self, split: str) -> Split:
        images = image_files([self._root / q.image for q in self._questions], self.size)
        statements = [[q.statement] for q in self._questions]
        return Split(split, images.as_array(), statements, labels={"pattern": self._patterns()})

    def _patterns(self) -> NDArray[np.int64]:
        each = len(self._questions) // len(PATTERNS)
        return np.repeat(np.arange(len(PATTERNS)), each)

    @cached_property
    def _root(self) -> Path:
        return require_folder("mmvp", self.folder, LAYOUT)

    @cached_property
    def _questions(self) -> Sequence[Question]:
        file = self._root / "Questions.csv"
        questions = read_questions(self._root)
        if len(questions) % (2 * len(PATTERNS)):
            raise UsageError(
                f"{file}: {len(questions)} rows are not an equal number of pairs for each of {len(PATTERNS)} patterns."
            )
        each = len(questions) // len(PATTERNS)
        kinds = [{q.kind for q in questions[start : start + each]} for start in range(0, len(questions), each)]
        if any(a & b for i, a in enumerate(kinds) for b in kinds[i + 1 :]):
            raise UsageError(
                f"{file}, column Type: one pattern spans two ninths of the rows; keep the published order."
            )
        return questions


def read_questions(root: Path) -> list[Question]:
    """The rows of Questions.csv, each with its image file, checked to be pairs."""
    file = require_file(root / "Questions.csv", LAYOUT)
    rows = enumerate(read_csv(file, COLUMNS, "questions"), start=2)
    questions = [_question(root, file, line, [row[column] for column in COLUMNS]) for line, row in rows]
    numbers = [q.number for q in questions]
    if twice := [n for n in numbers if numbers.count(n) > 1]:
        raise UsageError(f"{file}, column Question ID: {twice[0]} occurs twice.")
    for first, second in zip(questions[::2], questions[1::2], strict=False):
        if (first.number % 2, second.number % 2) != (1, 0):
            raise UsageError(
                f"{file}: ids {first.number} and {second.number} are not an odd one and the next even one."
            )
    return questions


def _question(root: Path, file: Path, line: int, cells: Sequence[str]) -> Question:
    number, kind, statement = (cell.strip() for cell in cells)
    if not number.isdigit():
        raise UsageError(f'{file}, line {line}, column Question ID: "{number}" is not a number.')
    if not statement:
        raise UsageError(f"{file}, line {line}, column Statement: empty.")
    image = f"MLLM_VLM Images/{kind}/{number}.jpg"
    if not (root / image).is_file():
        raise UsageError(f"{file}, line {line}: its image {root / image} is missing. The folder must hold {LAYOUT}.")
    return Question(int(number), kind, statement, image)
