"""Ranks of the right answers. Ties are decided here alone, always against the model."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.evaluation.rank_metrics import recall

__all__ = ["best_ranks_of_groups", "block_rows", "ranks_of_columns", "recall"]

BLOCK = 1024
"""Largest number of queries in a block."""
SCORES = 8_000_000
"""Largest number of similarities in a block: 64 MB in double precision, with a few copies."""


def block_rows(columns: int) -> int:
    """Number of queries in a block, given the number of candidates."""
    return max(1, min(BLOCK, SCORES // max(columns, 1)))


def not_below(scores: Tensor, right: Tensor) -> Tensor:
    """Mask of candidates that do not score below the right one. Ties and NaN count against the model."""
    return ~(scores < right)


def ranks_of_columns(queries: Tensor, candidates: Tensor, target: Tensor) -> NDArray[np.int32]:
    """For each query, the rank of candidate `target[i]` by similarity; 1 is best.

    Every other candidate that does not score lower ranks before it. So a collapsed model, or one that gives NaN, scores
    at chance or below, not at 100 %.
    """
    ranks, block = [], block_rows(len(candidates))
    for start in range(0, len(queries), block):
        rows = queries[start : start + block] @ candidates.T
        right = target[start : start + block, None]
        ranks.append(not_below(rows, rows.gather(1, right)).sum(1))
    return torch.cat(ranks).numpy().astype(np.int32)


def best_ranks_of_groups(queries: Tensor, candidates: Tensor, group: Tensor) -> NDArray[np.int32]:
    """For each query i, the best rank among its own candidates (`group == i`). Ties with others count against it.

    Its own other candidates never rank before its best one.
    """
    ranks, block = [], block_rows(len(candidates))
    for start in range(0, len(queries), block):
        rows = queries[start : start + block] @ candidates.T
        own = group[None, :] == torch.arange(start, start + len(rows))[:, None]
        best = rows.masked_fill(~own, -torch.inf).amax(1, keepdim=True)
        ranks.append((not_below(rows, best) & ~own).sum(1) + 1)
    return torch.cat(ranks).numpy().astype(np.int32)
