"""Zero-shot classification: class names in prompt templates as the classifier."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data.base import PairDataset
from benchsuite.errors import unknown
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.evaluation.ranks import ranks_of_columns
from benchsuite.evaluation.tensors import tensor_of
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task


@register_task(
    "zero-shot",
    title="Zero-shot classification",
    version=1,
    metrics=("top1", "top3", "top5", "top10"),
    headline="top1",
)
class ZeroShot(Task):
    """Top-1/3/5/10 accuracy of choosing the class whose prompts are most similar to the image.

    A class's prompts are embedded, normalised, averaged over the templates and normalised again. The set of templates
    is part of the protocol, because results depend on it. Ties count against the model. Top-k would always be 1
    where there are k classes or fewer, and is not reported there.
    """

    classes: str
    """Name of the dataset's set of classes."""
    templates: str
    """Name of the dataset's set of prompt templates."""
    split: str = "test"
    """Which images to classify."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        split = dataset.split(self.split)
        if self.classes not in dataset.class_names:
            raise unknown("set of classes", self.classes, dataset.class_names, f"{dataset.card.name}: ")
        if self.templates not in dataset.templates:
            raise unknown("set of templates", self.templates, dataset.templates, f"{dataset.card.name}: ")
        names = dataset.class_names[self.classes]
        classifier = class_embeddings(embed, names, dataset.templates[self.templates])
        ranks = ranks_of_columns(embed.images(split), classifier, tensor_of(split.labels[self.classes]))
        return self.from_ranks({"class": ranks, "classes": np.array([len(names)], np.int32)})


def class_embeddings(embed: Embedder, names: Sequence[str], templates: Sequence[str]) -> Tensor:
    """One normalised embedding for each class, [C, D]."""
    prompts = [template.format(name) for name in names for template in templates]
    embeddings = embed.texts(prompts).view(len(names), len(templates), -1)
    return normalize(embeddings.mean(1), dim=-1)
