"""Which rows of a source make a split: cut by a seed, and rows with the same picture taken together."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Part:
    """A split: the row of each picture, and further rows with the same one."""

    source: str
    """The source's name of the split that it is from."""
    rows: NDArray[np.int64]
    repeats: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """By the row of the picture."""

    @classmethod
    def of(cls, source: str, rows: NDArray[np.int64], digests: NDArray[np.uint8], merge: bool) -> "Part":
        """These rows, or with `merge` the first of each picture."""
        if not merge:
            return cls(source, rows)
        _, group, count = np.unique(_beginnings(digests, rows), return_inverse=True, return_counts=True)
        alone = count[group] == 1  # only the others can be equal
        first: dict[bytes, int] = {}
        repeats: dict[int, list[int]] = {}
        for row in map(int, rows[~alone]):
            holder = first.setdefault(digests[row].tobytes(), row)
            if holder != row:
                repeats.setdefault(holder, []).append(row)
        kept = alone | np.isin(rows, list(first.values()))
        return cls(source, rows[kept], repeats)


def _beginnings(digests: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(digests[:, :8][rows]).view(np.uint64).ravel()


def cut(
    rows: NDArray[np.int64], digests: NDArray[np.uint8], shares: Mapping[str, float], rest: str, seed: int
) -> dict[str, NDArray[np.int64]]:
    """Rows by split: each of the `shares` takes an interval of [0, 1), one after another, and `rest` what is left.

    A row falls where `place` puts its picture: no row moves when others come or go, and equal pictures stay together.
    """
    shares = {name: share for name, share in shares.items() if share > 0}
    if not shares:
        return {rest: rows}
    places = np.array([place(seed, digests[row].tobytes()) for row in rows])
    names = [*shares, rest]
    which = np.searchsorted(np.cumsum(list(shares.values())), places, side="right")
    return {name: rows[which == k] for k, name in enumerate(names)}


def place(seed: int, digest: bytes) -> float:
    """In [0, 1): the first 8 bytes of the SHA-256 of the seed in decimal, a zero byte and the picture's SHA-256."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0".encode() + digest).digest()[:8], "big") / 2**64
