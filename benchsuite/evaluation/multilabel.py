"""Zero-shot classification of images that show things of several classes: how well each class ranks the images."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.labelled import Prompted, class_embeddings, label_rows
from benchsuite.records.recompute import Ranks, Scores
from benchsuite.registry import register_task


@register_task(
    "multilabel", title="Zero-shot classification, several labels", version=1, metrics=("map",), headline="map"
)
class Multilabel(Prompted):
    """Mean average precision over classes: each class ranks all images by similarity to its prompts.

    Prompts are embedded and averaged as in zero-shot. Precision is read at each image of the class, without
    interpolation, as clip-benchmark does. Ties count against the model.
    """

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(dataset.templates_of, self.templates)
        yield partial(self._shown, dataset)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        shown, prompts = self._shown(dataset), dataset.prompts_for(self.classes, self.templates)
        scores = embed.images(dataset.split(self.split)) @ class_embeddings(embed, prompts).T
        return self.from_ranks(class_ranks(scores.cpu().numpy(), shown))

    def _shown(self, dataset: PairDataset) -> NDArray[np.bool_]:
        """Whether each image [N] shows each class [C]; refused unless each class has an image, and each id a name."""
        names, split = dataset.classes_of(self.classes), dataset.split(self.split)
        ids = label_rows(dataset, split, self.classes).reshape(len(split), -1)
        if (ids >= len(names)).any():
            raise UsageError(f'multilabel: class {ids.max()} of "{self.classes}", which has {len(names)} names.')
        image, place = np.nonzero(ids >= 0)  # -1 where an image has fewer classes than others
        shown = np.zeros((len(split), len(names)), bool)
        shown[image, ids[image, place]] = True
        if lacking := [name for k, name in enumerate(names) if not shown[:, k].any()]:
            raise UsageError(f'multilabel: no image of split {self.split} shows "{lacking[0]}" of "{self.classes}".')
        return shown


def class_ranks(scores: NDArray[Any], shown: NDArray[np.bool_]) -> Ranks:
    """The ranks of each class's images among all, class by class; 1 is best. Both arguments are [N, C]."""
    lacking = np.where(np.isnan(scores), np.where(shown, -np.inf, np.inf), scores)  # against the model, too
    orders = np.lexsort((shown, -lacking), axis=0).T
    ranks = [np.flatnonzero(shown[order, k]) + 1 for k, order in enumerate(orders)]
    counts = {"relevant": shown.sum(0), "pictures": np.array([len(shown)])}
    return {"class": np.concatenate(ranks).astype(np.int32), **{name: n.astype(np.int32) for name, n in counts.items()}}
