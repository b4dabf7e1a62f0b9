"""Frozen features with class labels: what kNN and the linear probe classify."""

from dataclasses import dataclass

import torch
from torch import Tensor

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UsageError, unknown
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.tensors import tensor_of


@dataclass(frozen=True)
class Labelled:
    """One split's features [N, D], each row with its class [N]."""

    rows: Tensor
    labels: Tensor


def require_classes(dataset: PairDataset, classes: str) -> None:
    """Refuse a set of classes that the dataset does not have."""
    if classes not in dataset.class_names:
        raise unknown("set of classes", classes, dataset.class_names, f"{dataset.card.name}: ")


def labelled(task: str, embed: Embedder, dataset: PairDataset, split: str, classes: str, side: str) -> Labelled:
    """A split's L2-normalised features before the projection, with labels. Side "text" uses first captions."""
    require_classes(dataset, classes)
    samples = dataset.split(split)
    if classes not in samples.labels:
        raise unknown("labels", classes, samples.labels, f"{dataset.card.name}, split {split}: ")
    rows = _features(task, embed, samples, side)
    labels = tensor_of(samples.labels[classes], torch.int64)
    require_rows(task, f"features of split {split}", rows)
    if labels.shape != (len(rows),):
        raise UsageError(f"{task}: split {split} has {len(rows)} samples but labels of shape {list(labels.shape)}.")
    outside = labels[(labels < 0) | (labels >= len(dataset.class_names[classes]))][:1].tolist()
    if outside:
        names = len(dataset.class_names[classes])
        raise UsageError(f'{task}: split {split} has class {outside[0]} of "{classes}", which has {names} names.')
    return Labelled(rows, labels)


def require_taught(task: str, dataset: PairDataset, classes: str, bank: Labelled, queries: Labelled) -> None:
    """Refuse queries of a class that has no example in the bank."""
    empty = sorted(set(queries.labels.tolist()) - set(bank.labels.tolist()))
    if empty:
        name = dataset.class_names[classes][empty[0]]
        raise UsageError(
            f'{task}: class "{name}" of "{classes}" is asked for but is empty where features are learned from. '
            f"Use a larger or another bank of {dataset.card.name}."
        )


def require_rows(task: str, what: str, rows: Tensor) -> None:
    """Refuse anything but a matrix of finite numbers with at least one row."""
    if rows.dim() != 2 or not len(rows):
        raise UsageError(f"{task}: {what} must be [N, D] with N at least 1; given {list(rows.shape)}.")
    if bad := torch.nonzero(~torch.isfinite(rows).all(1)).flatten()[:1].tolist():
        raise UsageError(f"{task}: {what}: row {bad[0]} is not finite.")


def _features(task: str, embed: Embedder, split: Split, side: str) -> Tensor:
    match side:
        case "image":
            return embed.images(split, features=True)
        case "text":
            return embed.texts([texts[0] for texts in split.captions_for(f"{task} of texts")], features=True)
        case _:
            raise UsageError(f'{task}: side "{side}" is neither image nor text.')
