"""Retrieval by size of class in the training data: of frequent classes, of rare ones, and of those between."""

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.evaluation.labelled import label_rows
from benchsuite.evaluation.rank_metrics import GROUPS
from benchsuite.evaluation.retrieval import Retrieval, image_of_text
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task


@register_task(
    "tail",
    title="Image-text retrieval by size of class",
    version=1,
    metrics=(
        "i2t_r1_head",
        "i2t_r10_head",
        "t2i_r1_head",
        "t2i_r10_head",
        "i2t_r1_medium",
        "i2t_r10_medium",
        "t2i_r1_medium",
        "t2i_r10_medium",
        "i2t_r1_tail",
        "i2t_r10_tail",
        "t2i_r1_tail",
        "t2i_r10_tail",
    ),
    headline="t2i_r10_tail",
)
class TailRetrieval(Task):
    """R@1/10 of `retrieval` in both directions, for the pairs of large, of middling and of small classes apart.

    The gallery is the whole split, as in `retrieval`. Head: the largest classes, which have a third of the training
    pairs; tail: the smallest ones, which have a third too; medium: those between (`groups_by_size`). So a group holds
    about a third of a test split that is distributed like the training data. It is refused where all classes have one
    size, and where a group has no item.
    """

    embeds: ClassVar = frozenset({"image", "text"})

    classes: str
    """Which labels are the classes."""
    split: str = "test"
    """Which images and captions to search."""
    bank: str = "train"
    """The split whose class sizes count."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield from Retrieval(split=self.split).reads(dataset)
        yield lambda: self.groups(dataset)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        groups = self.groups(dataset)
        owners = image_of_text(dataset.split(self.split).captions_for(self.card.name))
        ranks = Retrieval(split=self.split).searched(embed, dataset)
        of = {"i2t": groups, "t2i": groups[owners]}
        named = enumerate(GROUPS)
        return self.from_ranks({f"{way}_{name}": ranks[way][of[way] == g] for g, name in named for way in ranks})

    def groups(self, dataset: PairDataset) -> NDArray[np.int64]:
        """Of each image of the split, 0 for head, 1 for medium and 2 for tail; refused if one of them has none."""
        bank, split = (self._labels(dataset, name) for name in (self.bank, self.split))
        groups = groups_by_size(bank, split)
        if empty := [name for g, name in enumerate(GROUPS) if not (groups == g).any()]:
            raise UsageError(
                f'{self.card.name}: of the classes "{self.classes}" of {dataset.card.name}, by their sizes in split '
                f"{self.bank}, split {self.split} has none in the group {empty[0]}; it needs labels with a long tail."
            )
        return groups

    def _labels(self, dataset: PairDataset, name: str) -> NDArray[np.int64]:
        labels = label_rows(dataset, dataset.split(name), self.classes)
        if labels.ndim > 1 or (labels < 0).any():
            raise UsageError(f'{self.card.name}: "{self.classes}" must give each image of split {name} one class.')
        return labels


def groups_by_size(bank: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The group of each label by the size of its class in the bank: 0 for head, 1 for medium, 2 for tail.

    A class's place is the share of the bank in larger classes plus half of that in classes of its own size; the group
    is the third of [0, 1] in which it lies. Classes of one size are never parted.
    """
    count = np.bincount(bank, minlength=int(max(bank.max(initial=0), labels.max(initial=0))) + 1)
    sizes, size_of, classes = np.unique(count, return_inverse=True, return_counts=True)
    held = sizes * classes  # by classes of each size, smallest first
    twice = 2 * (len(bank) - held.cumsum()) + held
    return np.asarray(np.minimum(3 * twice // (2 * max(len(bank), 1)), 2)[size_of][labels], np.int64)
