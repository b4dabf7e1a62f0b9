"""MMVP-VLM: pairs of images that CLIP embeds alike, and a statement for each of the two."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.files import require_file
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.data.readers.tables import read_csv
from benchsuite.errors import UsageError
from benchsuite.registry import register_dataset

FILE = "Questions.csv"
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
class Mmvp(Listed):
    """135 pairs of images of 9 visual patterns with a statement each; rows 2i and 2i + 1 are pair i.

    Read from the published folder: Questions.csv and the images under "MLLM_VLM Images". Split test; classes
    "pattern", one of nine: equal runs of pairs in the order of the file, as the published evaluation counts them.
    """

    _layout: ClassVar = LAYOUT
    class_names: ClassVar = {"pattern": PATTERNS}

    def _splits(self) -> Iterable[str]:
        return ["test"]

    def _sources(self) -> Iterable[Path]:
        return [require_file(self._root / FILE, LAYOUT)]

    def _list(self, split: str) -> Iterator[Item]:
        questions = read_questions(self._root / FILE)
        each = len(questions) // len(PATTERNS)
        for i, question in enumerate(questions):
            yield listed(self._root, [question.image], [question.statement], {"pattern": i // each})


def read_questions(file: Path) -> list[Question]:
    """The rows of Questions.csv, checked to be pairs in equal groups."""
    rows = enumerate(read_csv(file, COLUMNS, "questions"), start=2)
    questions = [_question(f"{file}, line {line}", *(row[column].strip() for column in COLUMNS)) for line, row in rows]
    numbers = [q.number for q in questions]
    if twice := [n for n in numbers if numbers.count(n) > 1]:
        raise UsageError(f"{file}, column Question ID: {twice[0]} occurs twice.")
    for first, second in zip(numbers[::2], numbers[1::2], strict=False):
        if (first % 2, second % 2) != (1, 0):
            raise UsageError(f"{file}: ids {first} and {second} are not an odd one and the next even one.")
    if len(questions) % (2 * len(PATTERNS)):
        raise UsageError(
            f"{file}: {len(questions)} rows are not an equal number of pairs for each of {len(PATTERNS)} patterns."
        )
    each = len(questions) // len(PATTERNS)
    kinds = [{q.kind for q in questions[start : start + each]} for start in range(0, len(questions), each)]
    if any(a & b for i, a in enumerate(kinds) for b in kinds[i + 1 :]):
        raise UsageError(f"{file}, column Type: one pattern spans two ninths of the rows; keep the published order.")
    return questions


def _question(where: str, number: str, kind: str, statement: str) -> Question:
    if not number.isdigit():
        raise UsageError(f'{where}, column Question ID: "{number}" is not a number.')
    if not statement:
        raise UsageError(f"{where}, column Statement: empty.")
    return Question(int(number), kind, statement, f"MLLM_VLM Images/{kind}/{number}.jpg")
