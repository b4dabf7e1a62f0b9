"""A split of vectors as its files give it, before any of it is cut off for another split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.vectors import Noise, Positions, Rows, VectorImages, VectorLists, mixed
from benchsuite.errors import UsageError

BLOCK = 1 << 20
"""Rows that are hashed at a time."""


@dataclass(frozen=True)
class Lists:
    """Texts of all images, one image after another, and how many each image has."""

    shards: Sequence[NDArray[Any]]
    counts: NDArray[Any]

    def of(self, positions: Positions, normalize: bool, noise: Noise | None, where: str) -> VectorLists:
        """Those of some images."""
        rows = Rows(self.shards, normalize, where)
        if len(self.counts) and int(self.counts.min()) < 1:
            raise UsageError(f"{where}: image {int(self.counts.argmin())} has none.")
        first = int(self.counts[0]) if len(self.counts) else 1
        if bool((self.counts == first).all()):
            starts, total = positions * first if first > 1 else positions, first * len(self.counts)
        else:
            ends = np.cumsum(self.counts, dtype=np.int64)
            starts, total = (ends - self.counts)[positions], int(ends[-1])
        if total != len(rows):
            raise UsageError(f"{where}: {len(rows)} vectors, but the images have {total}.")
        return VectorLists(rows, starts, self.counts[positions], noise)


@dataclass(frozen=True)
class Source:
    """One split of a folder."""

    images: Sequence[NDArray[Any]]
    captions: Lists
    paraphrases: Lists | None = None
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    def pictures(self, positions: Positions, normalize: bool, noise: Noise | None, where: str) -> VectorImages:
        """Some of its images."""
        rows = Rows(self.images, normalize, where)
        if len(rows) != len(self.captions.counts):
            raise UsageError(f"{where}: {len(rows)} images, but {len(self.captions.counts)} lists of captions.")
        return VectorImages(rows, positions, noise)


def cut(count: int, shares: Mapping[str, float], seed: int, rest: str) -> dict[str, Positions]:
    """Rows by split: `shares` of all rows, and the rest. A row's place depends on its number, the seed and the shares.

    The hash of the row's number (`mixed`), as a fraction of 2^64, is below the first share for the first split, below
    the sum of two for the second, and so on.
    """
    bounds = np.cumsum([*shares.values()]) if shares else np.empty(0)
    parts: dict[str, list[Positions]] = {name: [] for name in (*shares, rest)}
    for start in range(0, count, BLOCK):
        rows = np.arange(start, min(start + BLOCK, count))
        place = np.searchsorted(bounds, mixed(rows, seed) / 2.0**64, side="right")
        for number, name in enumerate(parts):
            parts[name].append(rows[place == number])
    return {name: np.concatenate(own) if own else np.empty(0, np.int64) for name, own in parts.items()}
