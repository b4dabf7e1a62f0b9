"""Frozen features with class labels: what kNN and the linear probe classify."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UsageError, unknown
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.tensors import tensor_of


@dataclass(frozen=True)
class LabelledRows:
    """One split's features [N, D], each row with its class [N]."""

    rows: Tensor
    labels: Tensor


def label_rows(dataset: PairDataset, split: Split, classes: str) -> NDArray[np.int64]:
    """A split's labels of that name."""
    if classes not in split.labels:
        raise unknown("labels", classes, split.labels, f"{dataset.card.name}, split {split.name}: ")
    return split.labels[classes]


def class_labels(task: str, dataset: PairDataset, split: str, classes: str) -> Tensor:
    """A split's classes, [N]: one for each sample, each with a name."""
    names, samples = dataset.classes_of(classes), dataset.split(split)
    labels = tensor_of(label_rows(dataset, samples, classes), torch.int64)
    if labels.shape != (len(samples),):
        raise UsageError(f"{task}: split {split} has {len(samples)} samples but labels of shape {list(labels.shape)}.")
    if outside := labels[(labels < 0) | (labels >= len(names))][:1].tolist():
        raise UsageError(f'{task}: split {split} has class {outside[0]} of "{classes}", which has {len(names)} names.')
    return labels


def labelled(task: str, embed: Embedder, dataset: PairDataset, split: str, classes: str, side: str) -> LabelledRows:
    """A split's L2-normalised features before the projection, with labels. Side "text" uses first captions."""
    labels = class_labels(task, dataset, split, classes)
    rows = _features(task, embed, dataset.split(split), side)
    require_rows(task, f"features of split {split}", rows)
    return LabelledRows(rows, labels)


def labelled_reads(
    task: str, dataset: PairDataset, classes: str, side: str, bank: str, queries: Sequence[str]
) -> Iterator[Callable[[], object]]:
    """What a task reads that learns classes from the split `bank`, before anything is embedded."""

    @cache
    def labels(split: str) -> Tensor:
        return class_labels(task, dataset, split, classes)

    yield partial(require_side, task, side)
    for split in (bank, *queries):
        yield from class_reads(task, dataset, split, classes)
        if side == "text":
            yield partial(_first_captions, task, dataset, split)
    for split in queries:
        yield partial(_require_all_taught, task, dataset, classes, labels, bank, split)


def _first_captions(task: str, dataset: PairDataset, split: str) -> list[str]:
    return [texts[0] for texts in dataset.split(split).captions_for(f"{task} of texts")]


def class_reads(task: str, dataset: PairDataset, split: str, classes: str) -> Iterator[Callable[[], object]]:
    """The split, the names of the classes, and its labels: three calls, so that each of them is refused by itself."""
    yield partial(dataset.split, split)
    yield partial(dataset.classes_of, classes)
    yield partial(class_labels, task, dataset, split, classes)


def _require_all_taught(
    task: str, dataset: PairDataset, classes: str, labels: Callable[[str], Tensor], bank: str, queries: str
) -> None:
    require_taught(task, dataset, classes, labels(bank), labels(queries))


def require_taught(task: str, dataset: PairDataset, classes: str, bank: Tensor, queries: Tensor) -> None:
    """Refuse queries of a class that has no example in the bank."""
    empty = sorted(set(queries.tolist()) - set(bank.tolist()))
    if empty:
        name = dataset.class_names[classes][empty[0]]
        raise UsageError(
            f'{task}: class "{name}" of "{classes}" is asked for but is empty where features are learned from. '
            f"Use a larger or another bank of {dataset.card.name}."
        )


def require_side(task: str, side: str) -> None:
    """Refuse a side that is none."""
    if side not in ("image", "text"):
        raise UsageError(f'{task}: side "{side}" is neither image nor text.')


def require_rows(task: str, what: str, rows: Tensor) -> None:
    """Refuse anything but a matrix of finite numbers with at least one row."""
    if rows.dim() != 2 or not len(rows):
        raise UsageError(f"{task}: {what} must be [N, D] with N at least 1; given {list(rows.shape)}.")
    if bad := torch.nonzero(~torch.isfinite(rows).all(1)).flatten()[:1].tolist():
        raise UsageError(f"{task}: {what}: row {bad[0]} is not finite.")


def _features(task: str, embed: Embedder, split: Split, side: str) -> Tensor:
    require_side(task, side)
    if side == "image":
        return embed.images(split, features=True)
    return embed.texts([texts[0] for texts in split.captions_for(f"{task} of texts")], features=True)
