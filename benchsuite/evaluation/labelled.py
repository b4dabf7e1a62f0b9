"""What tasks read that classify: labels with names, and features of splits with their classes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UnknownError, UsageError
from benchsuite.evaluation.base import Embedder, Task, tensor_of


@dataclass(frozen=True)
class LabelledRows:
    """One split's features [N, D], each row with its class [N]."""

    rows: Tensor
    labels: Tensor


def label_rows(dataset: PairDataset, split: Split, classes: str) -> NDArray[np.int64]:
    """A split's labels of that name."""
    if classes not in split.labels:
        raise UnknownError("labels", classes, split.labels, f"{dataset.card.name}, split {split.name}: ")
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


def class_reads(task: str, dataset: PairDataset, split: str, classes: str) -> Iterator[Callable[[], object]]:
    """The split, the names of the classes, and its labels: three calls, so that each of them is refused by itself."""
    yield partial(dataset.split, split)
    yield partial(dataset.classes_of, classes)
    yield partial(class_labels, task, dataset, split, classes)


class Classification(Task):
    """Learns classes from the features of one split, and classifies those of another."""

    classes: str
    """Name of the dataset's set of classes."""
    side: Literal["image", "text"] = "image"
    """Whose features: image, or text (each image's first caption)."""
    bank: str = "train"
    """The split to learn from."""
    split: str = "test"
    """The split to classify."""

    @property
    def embeds(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({self.side})

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        name = self.card.name
        for split in (self.bank, self.split):
            yield from class_reads(name, dataset, split, self.classes)
            if self.side == "text":
                yield partial(self._first_captions, dataset, split)
        yield lambda: self._require_taught(
            dataset, *(class_labels(name, dataset, each, self.classes) for each in (self.bank, self.split))
        )

    def rows(self, embed: Embedder, dataset: PairDataset) -> tuple[LabelledRows, LabelledRows]:
        """Of the bank, then of the split to classify: L2-normalised features before the projection, with labels."""
        bank, queries = (self._rows(embed, dataset, split) for split in (self.bank, self.split))
        self._require_taught(dataset, bank.labels, queries.labels)
        return bank, queries

    def _rows(self, embed: Embedder, dataset: PairDataset, split: str) -> LabelledRows:
        labels = class_labels(self.card.name, dataset, split, self.classes)
        if self.side == "image":
            rows = embed.images(dataset.split(split), features=True)
        else:
            rows = embed.texts(self._first_captions(dataset, split), features=True)
        require_rows(self.card.name, f"features of split {split}", rows)
        return LabelledRows(rows, labels)

    def _first_captions(self, dataset: PairDataset, split: str) -> list[str]:
        return [texts[0] for texts in dataset.split(split).captions_for(f"{self.card.name} of texts")]

    def _require_taught(self, dataset: PairDataset, bank: Tensor, queries: Tensor) -> None:
        """Refuse queries of a class that has no example in the bank."""
        if empty := sorted(set(queries.tolist()) - set(bank.tolist())):
            name = dataset.class_names[self.classes][empty[0]]
            raise UsageError(
                f'{self.card.name}: class "{name}" of "{self.classes}" is asked for but is empty where features are '
                f"learned from. Use a larger or another bank of {dataset.card.name}."
            )


def require_rows(task: str, what: str, rows: Tensor) -> None:
    """Refuse anything but a matrix of finite numbers with at least one row."""
    if rows.dim() != 2 or not len(rows):
        raise UsageError(f"{task}: {what} must be [N, D] with N at least 1; given {list(rows.shape)}.")
    if bad := torch.nonzero(~torch.isfinite(rows).all(1)).flatten()[:1].tolist():
        raise UsageError(f"{task}: {what}: row {bad[0]} is not finite.")
