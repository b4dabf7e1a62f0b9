"""MMVP-VLM: pairs of pictures that CLIP takes for alike, and a statement for each of the two."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.real.files import files_digest, read_text, require_file, require_folder
from benchsuite.data.real.pictures import PictureFiles
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

LAYOUT = (
    "Questions.csv (columns Question ID, Type, Statement) and MLLM_VLM Images/<Type>/<Question ID>.jpg, as in the "
    "published MMVP_VLM"
)
COLUMNS = ("question id", "type", "statement")
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
    """One row: a statement that is true of its own picture and not of its neighbour's."""

    number: int
    kind: str
    statement: str
    picture: Path


@register_dataset("mmvp", title="MMVP-VLM", license="MIT", download=True)
class Mmvp(PairDataset):
    """135 pairs of pictures of 9 visual patterns with a statement each; rows 2i and 2i + 1 are pair i.

    Read from the published folder: Questions.csv and the pictures under "MLLM_VLM Images". Split test; classes
    "pattern", one of nine: equal runs of pairs in the order of the file, as the published evaluation counts them.
    """

    class_names: ClassVar = {"pattern": PATTERNS}

    folder: str = ""
    """The published folder. No part of a setup's identity; the digest is."""
    size: Count = 224
    """Side to which pictures are brought: the shorter side resized, the middle cut out."""

    def manifest(self) -> Manifest:
        pictures = {f"{q.kind}/{q.number}": q.picture for q in self._questions}
        digest = files_digest({"Questions.csv": self._root / "Questions.csv", **pictures})
        return Manifest("mmvp", 1, {"test": len(self._questions)}, digest)

    def read(self, split: str) -> Split:
        pictures = PictureFiles([q.picture for q in self._questions], self.size)
        statements = [[q.statement] for q in self._questions]
        return Split(split, pictures.as_array(), statements, labels={"pattern": self._patterns()})

    def _patterns(self) -> NDArray[np.int64]:
        each = len(self._questions) // len(PATTERNS)
        return np.repeat(np.arange(len(PATTERNS)), each)

    @cached_property
    def _root(self) -> Path:
        return require_folder("mmvp", self.folder, LAYOUT)

    @cached_property
    def _questions(self) -> Sequence[Question]:
        found = read_questions(self._root)
        if len(found) % (2 * len(PATTERNS)) or not found:
            file, groups = self._root / "Questions.csv", len(PATTERNS)
            raise UsageError(f"{file}: {len(found)} rows are no equal number of pairs for each of {groups} patterns.")
        each = len(found) // len(PATTERNS)
        kinds = [{q.kind for q in found[start : start + each]} for start in range(0, len(found), each)]
        if any(a & b for i, a in enumerate(kinds) for b in kinds[i + 1 :]):
            file = self._root / "Questions.csv"
            raise UsageError(
                f"{file}, column Type: one pattern spans two ninths of the rows; keep the published order."
            )
        return found


def read_questions(root: Path) -> list[Question]:
    """The rows of Questions.csv, each with its picture's file, checked to be pairs."""
    file = require_file(root / "Questions.csv", LAYOUT)
    header, *rows = csv.reader(read_text(file, "utf-8-sig").splitlines())
    names = [name.strip().lower() for name in header]
    if missing := [column for column in COLUMNS if column not in names]:
        raise UsageError(f"{file}: no column {missing[0]} (it has {', '.join(header)}). It must hold {LAYOUT}.")
    places = [names.index(column) for column in COLUMNS]
    found = [
        _question(root, file, line, [row[p] if p < len(row) else "" for p in places])
        for line, row in enumerate(rows, 2)
        if any(row)
    ]
    numbers = [q.number for q in found]
    if twice := [n for n in numbers if numbers.count(n) > 1]:
        raise UsageError(f"{file}, column Question ID: {twice[0]} stands there twice.")
    for first, second in zip(found[::2], found[1::2], strict=False):
        if (first.number % 2, second.number % 2) != (1, 0):
            raise UsageError(f"{file}: ids {first.number} and {second.number} are no pair of an odd and an even one.")
    return found


def _question(root: Path, file: Path, line: int, cells: Sequence[str]) -> Question:
    number, kind, statement = (cell.strip() for cell in cells)
    if not number.isdigit():
        raise UsageError(f'{file}, line {line}, column Question ID: "{number}" is no number.')
    if not statement:
        raise UsageError(f"{file}, line {line}, column Statement: empty.")
    picture = root / "MLLM_VLM Images" / kind / f"{number}.jpg"
    if not picture.is_file():
        raise UsageError(f"{file}, line {line}: its picture {picture} is missing. The folder must hold {LAYOUT}.")
    return Question(int(number), kind, statement, picture)
