"""Vectors and texts in files that are mapped, not read: images as [N, V, D], a list of captions for each image.

Only rows that are asked for are read, so a split may be larger than memory.
"""

import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.images import LazyArray
from benchsuite.errors import UsageError
from benchsuite.files import require_regular

Matrix = NDArray[np.float32]
Positions = NDArray[np.int64]
BLOCK = 4096
"""Lists that are read at a time where all of them are gone through."""
BANK = 4096
"""Different noise vectors of a dataset."""


def mapped(file: Path) -> NDArray[Any]:
    """A matrix of floats in a .npy file, mapped from disk. Neighbouring pages are not read ahead: rows are random."""
    array = numbers_in(file)
    if array.ndim != 2 or array.dtype.kind != "f" or not array.shape[1]:
        raise UsageError(f"{file}: it must hold vectors of floats, [rows, width]; it has {array.dtype} {array.shape}.")
    source: Any = array.base  # the map itself; numpy's types say an array
    if hasattr(source, "madvise") and hasattr(mmap, "MADV_RANDOM"):
        source.madvise(mmap.MADV_RANDOM)
    return array


def numbers_in(file: Path) -> NDArray[Any]:
    """The array in a .npy file, mapped from disk."""
    try:
        require_regular(file)
        array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(f"{file}: not an .npy file of numbers ({error}).") from error
    return array


def mixed(numbers: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """A hash of each number under a seed: the finalizer of SplitMix64, of (number + 1) * golden gamma + seed' ."""
    gamma = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        z = np.uint64(seed % 2**64) * np.uint64(0xD1342543DE82EF95) + (numbers.astype(np.uint64) + np.uint64(1)) * gamma
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(z ^ (z >> np.uint64(31)), np.uint64)


@dataclass(frozen=True)
class Noise:
    """Renderings of each vector: number 0 is the vector itself, each further one the vector with noise of its own."""

    scale: float
    """Standard deviation of each entry."""
    renderings: int
    seed: int

    def added(self, rows: Matrix, ids: Positions, numbers: Positions) -> Matrix:
        """The rows, [n, D], as rendering `numbers[i]`. Noise is a function of row, number and seed alone."""
        chosen = mixed(ids * self.renderings + numbers, self.seed) % np.uint64(BANK)
        amount = self.scale * (numbers > 0).astype(np.float32)[:, None]
        return np.asarray(rows + amount * _bank(self.seed, rows.shape[1])[chosen.astype(np.int64)], np.float32)


@cache
def _bank(seed: int, width: int) -> Matrix:
    return np.random.default_rng([seed, width]).standard_normal((BANK, width), np.float32)


class Rows:
    """The rows of several files as one matrix, [N, D] in float32."""

    def __init__(self, shards: Sequence[NDArray[Any]], normalize: bool, where: str) -> None:
        """With `normalize` each row is scaled to length sqrt(D), so that its entries have mean square 1."""
        if len(widths := {shard.shape[1] for shard in shards}) != 1:
            raise UsageError(f"{where}: files of one kind must have vectors of one width; given {sorted(widths)}.")
        (self.width,) = widths
        self._shards, self._normalize = shards, normalize
        self._ends = np.cumsum([len(shard) for shard in shards])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def take(self, positions: Positions) -> Matrix:
        rows = np.empty((len(positions), self.width), np.float32)
        shard = np.searchsorted(self._ends, positions, side="right")
        for number in np.unique(shard):
            mine, own = shard == number, self._shards[number]
            rows[mine] = own[positions[mine] - (self._ends[number] - len(own))]
        return scaled(rows) if self._normalize else rows


def scaled(rows: Matrix) -> Matrix:
    """Rows of length sqrt(D); a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows * (np.sqrt(rows.shape[-1]) / np.where(lengths > 0, lengths, 1)), np.float32)


class VectorImages(LazyArray):
    """Images as vectors, float32 [N, V, D]: V renderings of each."""

    def __init__(self, rows: Rows, positions: Positions, noise: Noise | None = None) -> None:
        """Image i is row `positions[i]`."""
        super().__init__(len(positions), (noise.renderings if noise else 1, rows.width))
        self.dtype = np.dtype(np.float32)
        self._rows, self._at, self._noise = rows, positions, noise

    def __getitem__(self, index: Any) -> NDArray[Any]:
        if isinstance(index, tuple):
            first, *rest = index
            rows = self[first]
            return np.asarray(rows[tuple(rest)] if rows.ndim == 2 else rows[(slice(None), *rest)])
        chosen = self._positions(index)
        return self._row(int(chosen)) if chosen.ndim == 0 else self._renderings(self._at[chosen])

    def _row(self, i: int) -> NDArray[Any]:
        return np.asarray(self._renderings(self._at[i : i + 1])[0])

    def _renderings(self, ids: Positions) -> Matrix:
        rows, views = self._rows.take(ids), self.shape[1]
        if self._noise is None:
            return rows[:, None]
        each = np.tile(np.arange(views), len(ids))
        return self._noise.added(np.repeat(rows, views, 0), np.repeat(ids, views), each).reshape(-1, *self.shape[1:])


class VectorLists:
    """For each image its texts as vectors, [K, D]; K may differ. With noise there are K * V, rendering by rendering."""

    def __init__(self, rows: Rows, starts: Positions, counts: NDArray[Any], noise: Noise | None = None) -> None:
        """List i is `counts[i]` rows from `starts[i]` on."""
        self._rows, self._starts, self._counts, self._noise = rows, starts, counts, noise
        self._views = noise.renderings if noise else 1

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: int) -> Matrix:
        numbers = np.arange(int(self._counts[index]) * self._views)
        return self._read(np.full(len(numbers), index), numbers)

    def __iter__(self) -> Iterator[Matrix]:
        for start in range(0, len(self), BLOCK):
            counts = self._counts[start : start + BLOCK].astype(np.int64) * self._views
            lists = np.repeat(np.arange(start, start + len(counts)), counts)
            numbers = np.arange(len(lists)) - np.repeat(np.cumsum(counts) - counts, counts)
            yield from np.split(self._read(lists, numbers), np.cumsum(counts)[:-1])

    def drawn(self, index: Positions, generator: np.random.Generator) -> Matrix:
        """One of the texts of each of these images, [n, D]."""
        return self._read(index, generator.integers(self._counts[index].astype(np.int64) * self._views))

    def _read(self, lists: Positions, numbers: Positions) -> Matrix:
        rendering, text = np.divmod(numbers, self._counts[lists])
        ids = self._starts[lists] + text
        rows = self._rows.take(ids)
        return self._noise.added(rows, ids, rendering) if self._noise else rows


@dataclass(frozen=True)
class Lists:
    """Texts of all images, one image after another, and how many each image has."""

    shards: Sequence[NDArray[Any]]
    counts: NDArray[Any]

    def of(self, positions: Positions, normalize: bool, noise: Noise | None, where: str) -> VectorLists:
        starts = np.cumsum(self.counts, dtype=np.int64) - self.counts
        return VectorLists(Rows(self.shards, normalize, where), starts[positions], self.counts[positions], noise)


@dataclass(frozen=True)
class Source:
    """One split of a folder of vectors, before any of it is cut off for another split."""

    images: Sequence[NDArray[Any]]
    captions: Lists
    paraphrases: Lists | None = None
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


class TextLists:
    """An Arrow column of lists of `as_bytes` texts."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, index: int) -> list[str]:
        return [as_text(content) for content in self._column[int(index)].as_py()]

    def __iter__(self) -> Iterator[list[str]]:
        for chunk in self._column.chunks:
            for start in range(0, len(chunk), BLOCK):
                yield from ([as_text(content) for content in own] for own in chunk.slice(start, BLOCK).to_pylist())


def as_bytes(text: str) -> bytes:
    """A text as it is stored. Arrow's own texts cannot hold the halves of surrogate pairs that JSON may hold."""
    return text.encode("utf-8", "surrogatepass")


def as_text(content: bytes) -> str:
    """What `as_bytes` made."""
    return content.decode("utf-8", "surrogatepass")
