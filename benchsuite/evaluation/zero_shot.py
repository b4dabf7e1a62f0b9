"""Zero-shot classification: class names in prompt templates as the classifier."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data.base import PairDataset, Vectors
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.evaluation.labelled import class_labels, class_reads
from benchsuite.evaluation.ranks import ranks_of_columns
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task


@register_task(
    "zero-shot", title="Zero-shot classification", version=1, metrics=("top1", "top3", "top5", "top10"), headline="top1"
)
class ZeroShot(Task):
    """Top-1/3/5/10 accuracy of choosing the class whose prompts are most similar to the image.

    A class's prompts are embedded, normalised, averaged over the templates and normalised again. The set of templates
    is part of the protocol, because results depend on it. Ties count against the model. Top-k would always be 1
    where there are k classes or fewer, and is not reported there.
    """

    embeds: ClassVar = frozenset({"image", "text"})

    classes: str
    """Name of the dataset's set of classes."""
    templates: str
    """Name of the dataset's set of prompt templates."""
    split: str = "test"
    """Which images to classify."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(dataset.templates_of, self.templates)
        yield from class_reads("zero-shot", dataset, self.split, self.classes)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        labels = class_labels("zero-shot", dataset, self.split, self.classes)
        prompts = dataset.prompts_for(self.classes, self.templates)
        ranks = ranks_of_columns(embed.images(dataset.split(self.split)), class_embeddings(embed, prompts), labels)
        return self.from_ranks({"class": ranks, "classes": np.array([len(prompts)], np.int32)})


def class_embeddings(embed: Embedder, prompts: Sequence[Sequence[str]] | Vectors) -> Tensor:
    """One normalised embedding for each class, [C, D]."""
    embeddings = embed.texts([prompt for own in prompts for prompt in own]).view(len(prompts), len(prompts[0]), -1)
    return normalize(embeddings.mean(1), dim=-1)
