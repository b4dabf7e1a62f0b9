"""Bytes that a training needs on the disk while it lasts. Needs no torch."""

from benchsuite.records.checkpoints import KEPT
from benchsuite.setup import Optimizer

FLOAT = 4
ONE_MOMENT = frozenset({"sgd", "sgdp", "nvnovograd", "lars"})
"""Optimizers that keep one number for each weight; the others keep two."""


def checkpoints_bytes(parameters: float, optimizer: Optimizer) -> float:
    """Of all checkpoints that a training has at a time: those that are kept, and one that is being written."""
    copies = 1 + (1 if optimizer.name in ONE_MOMENT else 2)
    return (KEPT + 1) * copies * FLOAT * parameters
