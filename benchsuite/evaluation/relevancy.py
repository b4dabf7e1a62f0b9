"""Relevancy of sentences to clips by shared verbs and nouns, as EPIC-KITCHENS-100 defines it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.tables import read_csv, whole_number, whole_numbers
from benchsuite.errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 512
EXACT = 2**53
"""Whole numbers below this are exact in double precision."""
CLIP_FIELDS = ("narration_id", "verb_class", "all_noun_classes")


@dataclass(frozen=True)
class Actions:
    """The verb class and the set of noun classes of each clip or sentence."""

    verb: Ints  # [N]
    nouns: NDArray[np.bool_]  # [N, classes]

    @classmethod
    def of(cls, verb: Sequence[int], nouns: Sequence[Sequence[int]]) -> "Actions":
        """From verb classes and sets of noun classes; a set without a noun is refused."""
        hot = np.zeros((len(nouns), 1 + max((n for classes in nouns for n in classes), default=0)), dtype=bool)
        for i, classes in enumerate(nouns):
            if not classes or min(classes) < 0:
                raise UsageError(f"relevancy: item {i} has noun classes {list(classes)}; give at least one, from 0 on.")
            hot[i, list(classes)] = True
        return cls(np.asarray(verb, np.int64), hot)

    def take(self, index: Sequence[int]) -> "Actions":
        return Actions(self.verb[list(index)], self.nouns[list(index)])


def relevancy(clips_csv: Path | str, sentences_csv: Path | str) -> Floats:
    """[clips, sentences] of 0.5 (same verb class) + 0.5 IoU (noun classes), from EPIC-KITCHENS-100's two files.

    A sentence's classes are those of the clip with its `narration_id`. The narrations are not read: in the last
    rows of the official file, some stand beside another clip's id.
    """
    clips, sentences = Path(clips_csv), Path(sentences_csv)
    rows = _read(clips, CLIP_FIELDS)
    actions = Actions.of(
        [whole_number(f"{clips}, row {i}", "verb_class", row) for i, row in enumerate(rows, start=2)],
        [whole_numbers(f"{clips}, row {i}", "all_noun_classes", row) for i, row in enumerate(rows, start=2)],
    )
    positions = {row["narration_id"]: i for i, row in enumerate(rows)}
    wanted = [row["narration_id"] for row in _read(sentences, ("narration_id",))]
    if lost := [name for name in wanted if name not in positions]:
        raise UsageError(f'{sentences}: narration_id "{lost[0]}" is not in {clips}, which has the classes.')
    return relevancy_between(actions, actions.take([positions[name] for name in wanted]))


def relevancy_between(rows: Actions, columns: Actions) -> Floats:
    """[rows, columns] of 0.5 (same verb class) + 0.5 (nouns in common / nouns in either)."""
    relevancies = np.empty((len(rows.verb), len(columns.verb)))
    for part, same, common, either in _overlaps(rows, columns):
        relevancies[part] = 0.5 * same + 0.5 * common / either
    return relevancies


def relevancy_parts(rows: Actions, columns: Actions) -> tuple[NDArray[np.integer[Any]], int]:
    """The same in exact whole numbers: [rows, columns] in parts, and the number of parts that make 1."""
    largest = int(rows.nouns.sum(1).max() + columns.nouns.sum(1).max())
    half = math.lcm(*range(1, largest + 1))  # any number of nouns in either divides it
    if 2 * half * max(len(rows.verb), len(columns.verb)) >= EXACT:
        raise UsageError(f"relevancy: a pair may have {largest} noun classes in either, too many for exact sums.")
    parts = np.empty((len(rows.verb), len(columns.verb)), np.min_scalar_type(2 * half))
    for part, same, common, either in _overlaps(rows, columns):
        parts[part] = half * same + common * (half / either)
    return parts, 2 * half


def _overlaps(rows: Actions, columns: Actions) -> Iterator[tuple[slice, NDArray[np.bool_], Floats, Floats]]:
    """Blocks of rows: whether the verb is the same, the number of nouns in common, and in either."""
    width = min(rows.nouns.shape[1], columns.nouns.shape[1])
    others, sizes = columns.nouns[:, :width].astype(float), columns.nouns.sum(1)
    for start in range(0, len(rows.verb), BLOCK):
        part = slice(start, start + BLOCK)
        common = rows.nouns[part, :width].astype(float) @ others.T
        either = rows.nouns[part].sum(1)[:, None] + sizes[None] - common
        yield part, rows.verb[part, None] == columns.verb[None], common, either


def _read(file: Path, fields: Sequence[str]) -> list[dict[str, str]]:
    rows = read_csv(file, fields)
    seen: set[str] = set()
    for i, row in enumerate(rows):
        if short := [field for field in fields if not row[field]]:
            raise UsageError(f'{file}, row {i + 2}: there is no value for "{short[0]}".')
        if row["narration_id"] in seen:
            raise UsageError(f'{file}, row {i + 2}: narration_id "{row["narration_id"]}" stands there twice.')
        seen.add(row["narration_id"])
    return rows
