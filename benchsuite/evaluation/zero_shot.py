"""Zero-shot classification: class names in prompt templates as the classifier."""

from collections.abc import Sequence

from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data.base import PairDataset, Vectors
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
    is part of the protocol, because results depend on it. Ties count against the model. Top-k is always 1 where there
    are k classes or fewer.
    """

    classes: str
    """Name of the dataset's set of classes."""
    templates: str
    """Name of the dataset's set of prompt templates."""
    split: str = "test"
    """Which images to classify."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        split = dataset.split(self.split)
        classifier = class_embeddings(embed, dataset.prompts(self.classes, self.templates))
        ranks = ranks_of_columns(embed.images(split), classifier, tensor_of(split.labels[self.classes]))
        return self.from_ranks({"class": ranks})


def class_embeddings(embed: Embedder, prompts: Sequence[Sequence[str]] | Vectors) -> Tensor:
    """One normalised embedding for each class, [C, D]."""
    embeddings = embed.texts([prompt for own in prompts for prompt in own]).view(len(prompts), len(prompts[0]), -1)
    return normalize(embeddings.mean(1), dim=-1)
