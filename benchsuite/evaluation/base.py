"""The contract of an evaluation task, and the embedder that tasks share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.cards import Card
from benchsuite.data.base import PairDataset, Split, Texts
from benchsuite.data.pixels import rendering, standardize, to_unit
from benchsuite.errors import UsageError
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.fields import Options
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.tokenizer import Words
from benchsuite.records.recompute import Ranks, Scores
from benchsuite.registry import tasks
from benchsuite.setup import ImageTower

__all__ = ["Embedder", "Scores", "Task", "create_task"]


class Embedder:
    """L2-normalised embeddings of a trained encoder; a split's images are encoded once for all tasks."""

    def __init__(self, encoder: DualEncoder, words: Words | None, tower: ImageTower | None, batch: int = 256) -> None:
        self._encoder, self._words, self._tower, self._batch = encoder.eval(), words, tower, batch
        self._device = next(encoder.parameters()).device
        self._images: dict[tuple[str, bool], Tensor] = {}

    @torch.inference_mode()
    def images(self, split: Split, features: bool = False) -> Tensor:
        """[N, D] of the split's images. With `features`, the tower's output before the projection."""
        key = (split.name, features)
        if key not in self._images:
            frames = math.prod(split.images[:1].shape[1:-3])  # 1 for pictures
            batch = max(1, self._batch // frames)
            starts = range(0, len(split), batch)
            rows = [self._encode_pixels(split.images[i : i + batch], features) for i in starts]
            self._images[key] = torch.cat(rows)
        return self._images[key]

    @torch.inference_mode()
    def texts(self, texts: Texts, features: bool = False) -> Tensor:
        """[N, D] of the texts. Sorted by length before batching, to save padding."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        batches: list[Any] = [[texts[i] for i in order[k : k + self._batch]] for k in range(0, len(order), self._batch)]
        rows = [self._encode_texts(batch, features) for batch in batches]
        return torch.cat(rows)[torch.tensor(order).argsort()]

    def _encode_pixels(self, pictures: NDArray[Any], features: bool) -> Tensor:
        if self._tower is None:
            raise UsageError("this setup has no image tower, so no picture can be embedded.")
        if self._tower.mlp:
            pixels = rendering(pictures, 0).to(self._device)
        else:
            pixels = standardize(to_unit(pictures).to(self._device), self._tower.mean, self._tower.std)
        encode = self._encoder.image_features if features else self._encoder.image
        return normalize(encode(pixels).float(), dim=-1).cpu()

    def _encode_texts(self, texts: Texts, features: bool) -> Tensor:
        if self._words is None:
            raise UsageError("this setup has no text tower, so no text can be embedded.")
        encode = self._encoder.text_features if features else self._encoder.text
        return normalize(encode(self._words(texts).to(self._device)).float(), dim=-1).cpu()


class Task(Options, ABC):
    """An evaluation. Annotate its options, implement `evaluate`, register it with a version and its metrics."""

    _owns_no_fields: ClassVar = True
    card: ClassVar[Card]

    def __init__(self, **options: Any) -> None:
        self.resolve(options)

    @property
    def embeds(self) -> frozenset[str]:
        """What it embeds under these options, "image" and "text"; empty if the task does not say."""
        return frozenset()

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


def create_task(name: str, **options: Any) -> Task:
    """A task by its registered name."""
    return cast(type[Task], tasks.get(name))(**options)
