"""Relevancy of sentences to clips by shared verbs and nouns, as EPIC-KITCHENS-100 defines it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import UsageError

Ints = NDArray[np.int64]
BLOCK = 512
EXACT = 2**53
"""Whole numbers below this are exact in double precision."""


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
        """The actions at these positions."""
        return Actions(self.verb[list(index)], self.nouns[list(index)])


def relevancy_parts(rows: Actions, columns: Actions) -> tuple[NDArray[np.integer[Any]], int]:
    """0.5 (same verb class) + 0.5 (nouns in common / nouns in either), in exact whole numbers: [rows, columns] in
    parts, and the number of parts that make 1.
    """
    largest = int(rows.nouns.sum(1).max() + columns.nouns.sum(1).max())
    half = math.lcm(*range(1, largest + 1))  # any number of nouns in either divides it
    if 2 * half * max(len(rows.verb), len(columns.verb)) >= EXACT:
        raise UsageError(f"relevancy: a pair may have {largest} noun classes in either, too many for exact sums.")
    parts = np.empty((len(rows.verb), len(columns.verb)), np.min_scalar_type(2 * half))
    width = min(rows.nouns.shape[1], columns.nouns.shape[1])
    others, sizes = columns.nouns[:, :width].astype(float), columns.nouns.sum(1)
    for start in range(0, len(rows.verb), BLOCK):
        part = slice(start, start + BLOCK)
        common = rows.nouns[part, :width].astype(float) @ others.T
        either = rows.nouns[part].sum(1)[:, None] + sizes[None] - common
        parts[part] = half * (rows.verb[part, None] == columns.verb[None]) + common * (half / either)
    return parts, 2 * half
