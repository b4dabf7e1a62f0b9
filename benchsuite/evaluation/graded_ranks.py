"""Graded rankings as whole numbers, stored beside a record, and read back.

`levels` are the relevancies that occur, in parts of the last, which is 1. For each way: `<way>_relevant`, how many
items of each level every query has; `<way>_gains`, the levels in the first places, as many for each query as it has
relevant items, numbered from 1, 0 for an irrelevant item; `<way>_ranks` and `<way>_sums`, the rank of each fully
relevant item and the relevancies up to it in the unit of `levels`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import RecordError
from benchsuite.evaluation.graded import GradedRanking, Whole

Arrays = Mapping[str, NDArray[np.integer[Any]]]
BLOCK = 1024
"""Queries read at a time."""


def pack(way: str, blocks: Iterable[GradedRanking], levels: Whole) -> dict[str, Whole]:
    """The arrays of one way, in the smallest types that hold them."""
    packed = []
    for block in blocks:
        query = np.repeat(np.arange(len(block.relevant)), block.relevant)
        level = np.searchsorted(levels, block.ideal)
        each = np.bincount(query * len(levels) + level, minlength=len(levels) * len(block.relevant))
        gains = np.where(block.gains > 0, np.searchsorted(levels, block.gains) + 1, 0)
        numbers = (each, gains, block.ranks, block.sums.astype(np.int64))  # none is below 0
        packed.append([rows.astype(np.min_scalar_type(int(rows.max(initial=0)))) for rows in numbers])
    names = ("relevant", "gains", "ranks", "sums")
    return {f"{way}_{name}": np.concatenate(rows) for name, rows in zip(names, zip(*packed, strict=True), strict=True)}


def queries(arrays: Arrays, ways: Iterable[str]) -> dict[str, int]:
    """How many queries each way has."""
    return {way: len(arrays[f"{way}_relevant"]) // len(arrays["levels"]) for way in ways}


def unpack(way: str, arrays: Arrays) -> Iterator[GradedRanking]:
    """The rankings again, a block of queries at a time; refused if the arrays contradict each other."""
    levels, each, gains, ranks, sums = _checked(way, arrays)
    values, falling = np.concatenate([[0], levels]).astype(np.float64), levels[::-1].astype(np.float64)
    full, relevant = each[:, -1], each.sum(1)
    ends, full_ends = np.cumsum(relevant), np.cumsum(full)
    for start in range(0, len(each), BLOCK):
        last = min(start + BLOCK, len(each)) - 1
        own = slice(ends[start] - relevant[start], ends[last])
        tops = slice(full_ends[start] - full[start], full_ends[last])
        counts = each[start : last + 1]
        ideal = np.repeat(np.tile(falling, len(counts)), counts[:, ::-1].ravel())
        yield GradedRanking(
            full[start : last + 1],
            ranks[tops].astype(np.int64),
            sums[tops] / levels[-1],
            relevant[start : last + 1],
            values[gains[own]],
            ideal,
        )


def _checked(way: str, arrays: Arrays) -> tuple[Whole, Whole, Whole, Whole, Whole]:
    levels = arrays["levels"].astype(np.int64)
    relevant, gains, ranks, sums = (arrays[f"{way}_{name}"] for name in ("relevant", "gains", "ranks", "sums"))
    if not len(levels) or (np.diff(levels, prepend=0) <= 0).any():
        raise RecordError("levels do not rise from above 0")
    if not len(relevant) or len(relevant) % len(levels):
        raise RecordError(f"{way}_relevant has {len(relevant)} numbers, which is not {len(levels)} a query")
    if relevant.min() < 0 or relevant.max() > len(gains):  # asked before sums, which could wrap around
        raise RecordError(f"{way}_relevant counts below 0, or more than the {len(gains)} numbers of {way}_gains")
    each = relevant.astype(np.int64).reshape(-1, len(levels))
    for name, rows, wanted in (
        ("gains", gains, int(each.sum())),
        ("ranks", ranks, int(each[:, -1].sum())),
        ("sums", sums, int(each[:, -1].sum())),
    ):
        if len(rows) != wanted:
            raise RecordError(f"{way}_{name} has {len(rows)} numbers where {way}_relevant counts {wanted}")
    if len(gains) and not 0 <= gains.min() <= gains.max() <= len(levels):
        raise RecordError(f"{way}_gains name levels that cannot be")
    if (ranks < 1).any():
        raise RecordError(f"{way}_ranks are below 1")
    return levels, each, gains, ranks, sums
