"""Data sets of pairs, each registered by its decorator; batches and augmentation."""

from typing import Any, cast

from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.registry import datasets

__all__ = ["Manifest", "PairDataset", "Split", "create_dataset"]


def create_dataset(name: str, **options: Any) -> PairDataset:
    """A data set by its registered name."""
    return cast(type[PairDataset], datasets.get(name))(**options)
