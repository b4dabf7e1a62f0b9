"""Retrieval between pictures and captions, in both directions: in a split, in galleries, and by size of class."""

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data.base import PairDataset, TextsOfImages
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Task, tensor_of
from benchsuite.evaluation.labelled import label_rows
from benchsuite.evaluation.rank_metrics import GROUPS, WAYS, recalls
from benchsuite.evaluation.ranks import both_ways
from benchsuite.fields import Count
from benchsuite.records.ranks import NEAREST
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task


@register_task(
    "retrieval",
    title="Image-text retrieval",
    version=1,
    metrics=("i2t_r1", "i2t_r5", "i2t_r10", "t2i_r1", "t2i_r5", "t2i_r10", "r_mean"),
    measures=("i2t_median_rank", "t2i_median_rank"),
    headline="r_mean",
)
class Retrieval(Task):
    """R@1/5/10 from image or clip to caption and from caption to image or clip, over one split.

    Text to image: the rank of the caption's image. Image to text: the best rank among the image's captions. Ties count
    against the model. `r_mean` is the mean of the six recalls.
    """

    embeds: ClassVar = frozenset({"image", "text"})

    split: str = "test"
    """Which images and captions to search."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield lambda: dataset.split(self.split).captions_for(self.card.name)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        return self.from_ranks(self.searched(embed, dataset))

    def searched(self, embed: Embedder, dataset: PairDataset) -> dict[str, NDArray[np.int32]]:
        split = dataset.split(self.split)
        lists = split.captions_for(self.card.name)
        owners = torch.from_numpy(image_of_text(lists))

        def search() -> dict[str, NDArray[np.int32]]:
            captions = [text for texts in lists for text in texts]
            return self.ranks(embed.images(split), embed.texts(captions), owners)

        return embed.once((self.card.name, *self.options().values()), search)

    def ranks(self, image: Tensor, text: Tensor, image_of_text: Tensor) -> dict[str, NDArray[np.int32]]:
        return found_both(image, text, image_of_text)


@register_task(
    "gallery-retrieval",
    title="Image-text retrieval in galleries",
    version=1,
    metrics=("i2t_r1", "i2t_r5", "i2t_r10", "t2i_r1", "t2i_r5", "t2i_r10", "r_mean"),
    measures=("i2t_median_rank", "t2i_median_rank"),
    headline="r_mean",
)
class GalleryRetrieval(Retrieval):
    """Retrieval in several galleries of one split, each searched alone: as hard as one gallery, with less chance in it.

    The split is cut into consecutive galleries of that many images; the split's size must be a multiple of it.
    """

    gallery: Count = 1000
    """Images in each gallery."""

    def ranks(self, image: Tensor, text: Tensor, image_of_text: Tensor) -> dict[str, NDArray[np.int32]]:
        if len(image) % self.gallery:
            raise UsageError(
                f'{self.card.name}: split "{self.split}" has {len(image)} images, no multiple of a gallery of '
                f"{self.gallery}."
            )
        parts = []
        for start in range(0, len(image), self.gallery):
            own = (image_of_text >= start) & (image_of_text < start + self.gallery)
            found = found_both(image[start : start + self.gallery], text[own], image_of_text[own] - start)
            parts.append({name: each + start * name.endswith(NEAREST) for name, each in found.items()})
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def image_of_text(lists: TextsOfImages) -> NDArray[np.int64]:
    """The number of the image of each caption, one image's after another's."""
    return np.repeat(np.arange(len(lists)), [len(texts) for texts in lists])


def score(image: ArrayLike, text: ArrayLike, image_of_text: ArrayLike) -> dict[str, float]:
    """Metrics of embeddings [N, D] and [M, D] by cosine; caption j belongs to image `image_of_text[j]`."""
    images, captions = (tensor_of(rows, torch.float64) for rows in (image, text))
    owners = tensor_of(image_of_text).long()
    return recalls(rank_both(normalize(images, dim=-1), normalize(captions, dim=-1), owners))


def rank_both(image: Tensor, text: Tensor, image_of_text: Tensor) -> dict[str, NDArray[np.int32]]:
    """Ranks for each direction."""
    found = found_both(image, text, image_of_text)
    return {way: found[way] for way in WAYS}


def found_both(image: Tensor, text: Tensor, image_of_text: Tensor) -> dict[str, NDArray[np.int32]]:
    """Ranks for each direction, and of each query the wrong picture, or that of the wrong caption, that is nearest.

    Of one picture alone, no other is nearest.
    """
    _check(image, text, image_of_text)
    i2t, t2i = both_ways(image, text, image_of_text)
    ranks = {"i2t": i2t.ranks(), "t2i": t2i.ranks()}
    if len(image) < 2:
        return ranks
    owners = image_of_text.numpy(force=True)
    wrong = {"i2t": owners[i2t.nearest.numpy(force=True)], "t2i": t2i.nearest.numpy(force=True)}
    return ranks | {way + NEAREST: (1 + pictures).astype(np.int32) for way, pictures in wrong.items()}


def _check(image: Tensor, text: Tensor, image_of_text: Tensor) -> None:
    if image.dim() != 2 or text.dim() != 2 or image.shape[1] != text.shape[1]:
        shapes = f"{list(image.shape)} and {list(text.shape)}"
        raise UsageError(f"retrieval: embeddings must be [N, D] and [M, D] with one D; given {shapes}.")
    if not len(image):
        raise UsageError("retrieval: there are no pictures.")
    for name, rows in (("image", image), ("text", text)):
        if rows.sum().isfinite():  # one pass, no copy; the sum of finite numbers may overflow
            continue
        if bad := torch.nonzero(~torch.isfinite(rows).all(1)).flatten()[:1].tolist():
            raise UsageError(f"retrieval: {name} embedding {bad[0]} is not finite.")
    if image_of_text.shape != (len(text),):
        raise UsageError(
            f"retrieval: {len(text)} captions need as many picture numbers; given {list(image_of_text.shape)}."
        )
    foreign = image_of_text[(image_of_text < 0) | (image_of_text >= len(image))]
    if len(foreign):
        raise UsageError(
            f"retrieval: a caption belongs to picture {int(foreign.min())}, but there are {len(image)} pictures."
        )
    without_caption = (image_of_text.long().bincount(minlength=len(image)) == 0).nonzero()
    if len(without_caption):
        raise UsageError(f"retrieval: picture {int(without_caption[0])} has no caption.")


@register_task(
    "tail",
    title="Image-text retrieval by size of class",
    version=1,
    metrics=(
        "i2t_r1_head", "i2t_r10_head", "t2i_r1_head", "t2i_r10_head", "i2t_r1_medium", "i2t_r10_medium",
        "t2i_r1_medium", "t2i_r10_medium", "i2t_r1_tail", "i2t_r10_tail", "t2i_r1_tail", "t2i_r10_tail",
    ),
    headline="t2i_r10_tail",
)  # fmt: skip
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
        return self.from_ranks({f"{way}_{name}": ranks[way][of[way] == g] for g, name in named for way in WAYS})

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
