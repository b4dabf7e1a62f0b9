"""What a task hands over. A module of its own, because what follows from ranks alone needs no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ranks = Mapping[str, NDArray[np.integer[Any]]]


@dataclass(frozen=True)
class Scores:
    """A task's outcome: metrics as fractions, how many queries stand behind them, and each query's rank."""

    metrics: Mapping[str, float]
    counts: Mapping[str, int]
    ranks: Ranks = field(default_factory=dict)
    """1 is best. Kept beside the record, so that metrics can be computed again. A task may keep other whole numbers."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """What is no fraction: distances, median ranks."""
