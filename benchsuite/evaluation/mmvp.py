"""MMVP-VLM: whether each of two statements picks its own image of a pair."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.evaluation.labelled import label_rows
from benchsuite.evaluation.matching import instance_ranks
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

PATTERNS = "pattern"


@register_task(
    "mmvp",
    title="MMVP-VLM",
    version=1,
    metrics=(
        "orientation", "presence", "state", "quantity", "positional", "colour", "structural", "texts", "viewpoint",
        "average",
    ),
    headline="average",
)  # fmt: skip
class MmvpVlm(Task):
    """For each of nine visual patterns, the share of pairs both of whose statements pick their own image.

    Each statement is compared with the two images of its pair. The pair counts only if both statements pick the right
    image. Ties count against the model, so a collapsed model scores 0. `average` is the mean of the nine patterns.
    """

    embeds: ClassVar = frozenset({"image", "text"})

    prompt: str = "a photo of {}"
    """Template for each statement, as in the published evaluation."""
    split: str = "test"
    """Which pairs to evaluate."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(statements, dataset, self.split)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        texts = [self.prompt.format(text) for text in statements(dataset, self.split)]
        split = dataset.split(self.split)
        ranks = pair_ranks(embed.images(split), embed.texts(texts))
        names, groups = dataset.class_names[PATTERNS], split.labels[PATTERNS]
        return self.from_ranks({name: ranks[groups == c] for c, name in enumerate(names)})


def statements(dataset: PairDataset, name: str) -> list[str]:
    """The statement of each picture of a split; refused unless each has one, and each pattern a pair."""
    if PATTERNS not in dataset.class_names:
        raise UsageError(f'mmvp: dataset {dataset.card.name} has no classes "{PATTERNS}"; use dataset mmvp.')
    split = dataset.split(name)
    if wrong := [i for i, texts in enumerate(split.captions_for("mmvp")) if len(texts) != 1]:
        raise UsageError(f"mmvp: picture {wrong[0]} needs one statement, not {len(split.captions[wrong[0]])}.")
    groups = label_rows(dataset, split, PATTERNS)
    if empty := [name for c, name in enumerate(dataset.class_names[PATTERNS]) if not (groups == c).any()]:
        raise UsageError(f'mmvp: pattern "{empty[0]}" has no pair.')
    return [texts[0] for texts in split.captions]


def pair_ranks(image: Tensor, text: Tensor) -> NDArray[np.int32]:
    """For each statement, the rank (1 or 2) of its own image in its pair; rows 2i and 2i + 1 are pair i."""
    return instance_ranks(*(rows.view(-1, 2, rows.shape[1]) for rows in (image, text)))["image"]
