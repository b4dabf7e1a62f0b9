"""MMVP-VLM: pairs of images that CLIP embeds alike, and a statement for each of the two."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.files import require_file
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.data.readers.tables import read_csv
from benchsuite.errors import UsageError
from benchsuite.registry import register_dataset

FILE = "Questions.csv"
COLUMNS = ("Question ID", "Type", "Statement")
PATTERNS = ("orientation", "presence", "state", "quantity", "positional", "colour", "structural", "texts", "viewpoint")
"""The nine groups in the order of the file, by the first word of their published names."""


@register_dataset("mmvp", title="MMVP-VLM", license="MIT", download=True)
class Mmvp(Listed):
    """135 pairs of images of 9 visual patterns with a statement each; rows 2i and 2i + 1 are pair i.

    Read from the published folder: Questions.csv and the images under "MLLM_VLM Images". Split test; classes
    "pattern", one of nine: equal runs of pairs in the order of the file, as the published evaluation counts them.
    """

    _layout: ClassVar = (
        "Questions.csv (columns Question ID, Type, Statement) and MLLM_VLM Images/<Type>/<Question ID>.jpg, as in the "
        "published MMVP_VLM"
    )
    class_names: ClassVar = {"pattern": PATTERNS}

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        return {"test": [require_file(self._root / FILE, self._layout)]}

    def _list(self, split: str) -> Iterator[Item]:
        questions = read_questions(self._root / FILE)
        each = len(questions) // len(PATTERNS)
        for i, (number, kind, statement) in enumerate(questions):
            yield listed(self._root, [f"MLLM_VLM Images/{kind}/{number}.jpg"], [statement], {"pattern": i // each})


def read_questions(file: Path) -> list[list[str]]:
    """The cells of Questions.csv, checked to be pairs in equal groups."""
    rows = [[row[column].strip() for column in COLUMNS] for row in read_csv(file, COLUMNS, "questions")]
    for line, (number, _, statement) in enumerate(rows, start=2):
        if not number.isdecimal() or not statement:
            raise UsageError(f"{file}, line {line}: there must be a number as Question ID, and a Statement.")
    numbers = [int(number) for number, *_ in rows]
    for first, second in zip(numbers[::2], numbers[1::2], strict=False):
        if first % 2 == 0 or second != first + 1:
            raise UsageError(f"{file}: ids {first} and {second} are not an odd one and the next even one.")
    if len(rows) % (2 * len(PATTERNS)):
        raise UsageError(
            f"{file}: {len(rows)} rows are not an equal number of pairs for each of {len(PATTERNS)} patterns."
        )
    each = len(rows) // len(PATTERNS)
    kinds = [{kind for _, kind, _ in rows[start : start + each]} for start in range(0, len(rows), each)]
    if any(a & b for i, a in enumerate(kinds) for b in kinds[i + 1 :]):
        raise UsageError(f"{file}, column Type: one pattern spans two ninths of the rows; keep the published order.")
    return rows
