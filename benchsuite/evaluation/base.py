"""The contract of an evaluation task, and the embedder that tasks share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from benchsuite.cards import Card
from benchsuite.data.base import PairDataset, Split, Texts
from benchsuite.errors import UsageError
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.fields import Options
from benchsuite.models.sides import Sides
from benchsuite.records.recompute import Ranks, Scores
from benchsuite.registry import tasks

__all__ = ["Embedder", "Scores", "Task", "create_task", "tensor_of"]

T = TypeVar("T")
Each = Callable[[Callable[[Any], Tensor], Sequence[Any]], list[Tensor]]
"""Encodes each batch of a list; processes of one training may share them."""


def one_by_one(encode: Callable[[Any], Tensor], batches: Sequence[Any]) -> list[Tensor]:
    """All here."""
    return [encode(batch) for batch in batches]


class Embedder:
    """L2-normalised embeddings of a model's sides; a split's images are encoded once for all tasks."""

    def __init__(self, sides: Sides, batch: int = 256, each: Each = one_by_one) -> None:
        self._sides, self._batch, self._each = sides, batch, each
        self._images: dict[tuple[str, bool], Tensor] = {}
        self._once: dict[Hashable, Any] = {}

    def once(self, what: Hashable, compute: Callable[[], T]) -> T:
        """What `compute` gave when it was first asked for under this name: for what several tasks need."""
        if what not in self._once:
            self._once[what] = compute()
        return cast(T, self._once[what])

    @torch.inference_mode()
    def images(self, split: Split, features: bool = False) -> Tensor:
        """[N, D] of the split's images. With `features`, the tower's output before the projection."""
        key = (split.name, features)
        if key not in self._images:
            frames = math.prod(split.images[:1].shape[1:-3])  # 1 for pictures
            batch = max(1, self._batch // frames)

            def encode(start: int) -> Tensor:
                return self._sides.pictures(split.images[start : start + batch], features)

            self._images[key] = torch.cat(self._each(encode, range(0, len(split), batch)))
        return self._images[key]

    @torch.inference_mode()
    def texts(self, texts: Texts, features: bool = False) -> Tensor:
        """[N, D] of the texts. Sorted by length before batching, to save padding."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        batches: list[Any] = [[texts[i] for i in order[k : k + self._batch]] for k in range(0, len(order), self._batch)]
        rows = torch.cat(self._each(lambda batch: self._sides.texts(batch, features), batches))
        return rows[torch.tensor(order).argsort()]


class Task(Options, ABC):
    """An evaluation. Annotate its options, implement `evaluate`, register it with a version and its metrics."""

    _owns_no_fields: ClassVar = True
    card: ClassVar[Card]
    embeds: ClassVar[frozenset[str]] = frozenset()
    """What it embeds, "image" and "text"; empty if the task does not say. A property where options decide it."""

    @property
    def needs_images(self) -> bool:
        """Whether the task embeds images or clips under these options."""
        return not self.embeds or "image" in self.embeds

    def reads(self, dataset: PairDataset) -> Iterable[Callable[[], object]]:
        """What `evaluate` reads of the dataset, each as a call that raises a UsageError for what is not there.

        Called before the training. So these calls embed nothing. Nothing is checked by default.
        """
        return ()

    def problems(self, dataset: PairDataset) -> list[str]:
        """Everything that `evaluate` would refuse in the dataset, as far as `reads` tells."""
        refused = []
        for read in self.reads(dataset):
            try:
                read()
            except UsageError as error:
                refused.append(str(error))
        return list(dict.fromkeys(refused))

    @abstractmethod
    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        """Metrics of the embeddings on the dataset."""

    def from_ranks(self, ranks: Ranks) -> Scores:
        """The scores that the task's rule computes from ranks. `benchsuite verify` uses the same rule."""
        name = self.card.name
        if name not in RULES:
            raise UsageError(f'task "{name}" has no rule; add one: benchsuite.evaluation.rank_metrics.RULES["{name}"].')
        return RULES[name](ranks, self.options())


def tensor_of(values: ArrayLike | Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """The values as a tensor. Arrays are copied, because tensors cannot be read-only."""
    return values.to(dtype=dtype) if isinstance(values, Tensor) else torch.tensor(np.asarray(values), dtype=dtype)


def create_task(name: str, **options: Any) -> Task:
    """A task by its registered name."""
    return cast(type[Task], tasks.get(name))(**options)
