"""Image-caption matching against hard negatives: SugarCrepe's, Winoground's, or one's own."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.fields import Count
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task


@register_task(
    "matching", title="Image-caption matching", version=1, metrics=("text", "image", "group"), headline="text"
)
class Matching(Task):
    """Share of instances that are matched, chosen among the images and captions of the instance alone.

    `text`: each image is most similar to its own caption; with several images also `image`, each caption is most
    similar to its own image, and `group`, both. Ties count against the model.
    """

    embeds: ClassVar = frozenset({"image", "text"})

    images: Count = 1
    """Successive images that are an instance. 1: the image's first caption is right, its others are wrong
    (SugarCrepe). 2: each image has one caption, which is wrong for the other (Winoground)."""
    split: str = "test"
    """Which images and captions to match."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(self._captions, dataset)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        rows, texts = embed.images(dataset.split(self.split)), embed.texts(self._captions(dataset))
        count, width = len(rows) // self.images, rows.shape[1]
        return self.from_ranks(instance_ranks(rows.view(count, -1, width), texts.view(count, -1, width)))

    def _captions(self, dataset: PairDataset) -> list[str]:
        """All captions in order; refused unless instances are whole and alike."""
        lists = dataset.split(self.split).captions_for("matching")
        wanted = 1 if self.images > 1 else max(2, len(lists[0]))
        if wrong := [i for i, own in enumerate(lists) if len(own) != wanted]:
            raise UsageError(
                f"matching: image {wrong[0]} has {len(lists[wrong[0]])} captions; with images = {self.images} each "
                f"needs {wanted} (Winoground: images = 2, and 1 caption each)."
            )
        if len(lists) % self.images:
            raise UsageError(f"matching: {len(lists)} images are no whole instances of {self.images}.")
        return [text for own in lists for text in own]


def instance_ranks(image: Tensor, text: Tensor) -> dict[str, NDArray[np.int32]]:
    """For each image of [N, I, D] the rank of its caption among [N, M, D] of its instance, and the other way round.

    Caption i is that of image i; further ones are of none. An only image is not ranked.
    """
    scores = (image[:, :, None] * text[:, None]).sum(-1)  # [N, I, M]
    own = scores.diagonal(dim1=1, dim2=2)
    ranks = {"text": (~(scores < own[:, :, None])).sum(2)}
    if image.shape[1] > 1:
        ranks["image"] = (~(scores < own[:, None])).sum(1)
    return {way: each.flatten().cpu().numpy().astype(np.int32) for way, each in ranks.items()}
