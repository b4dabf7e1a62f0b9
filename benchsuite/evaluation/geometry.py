"""Geometry of embeddings: modality gap, alignment, uniformity, similarities of pairs, and tolerance.

Rows are L2-normalised, in double precision. Each pair of rows counts once, and no row pairs with itself.
Similarities are computed in tiles that stay in a processor's cache, never as a whole matrix.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Scores, Task, tensor_of
from benchsuite.evaluation.labelled import label_rows, require_rows
from benchsuite.registry import register_task

SIDE = 256
"""Rows and columns of a tile."""
Floats = NDArray[np.float64]


def score(image: ArrayLike, text: ArrayLike) -> dict[str, float]:
    """Geometry of paired embeddings [N, D]; row i of both is pair i.

    gap: distance of the two centroids. alignment: mean squared distance of the pairs. uniformity_*: Wang and Isola's
    log mean exp(-2 |x - y|²) over the pairs of one side. uniformity_w2: the negative quadratic Wasserstein distance to
    N(0, I/D) (Fang et al.), of both sides together as in Yaras et al.; uniformity_w2_*: of one side. positive_mean:
    mean cosine of the pairs; negative_mean: of all other rows of the two.
    """
    a, b = _unit("image", image), _unit("text", text)
    if a.shape != b.shape:
        raise UsageError(f"geometry: pairs need one shape [N, D]; given image {list(a.shape)}, text {list(b.shape)}.")
    positives = float((a * b).sum())
    return {
        "gap": float((a.mean(0) - b.mean(0)).norm()),
        "alignment": float((a - b).square().sum(1).mean()),
        "uniformity_image": _uniformity(a),
        "uniformity_text": _uniformity(b),
        "uniformity_w2": _uniformity_w2(torch.cat([a, b])),
        "uniformity_w2_image": _uniformity_w2(a),
        "uniformity_w2_text": _uniformity_w2(b),
        "positive_mean": positives / len(a),
        "negative_mean": (float(a.sum(0) @ b.sum(0)) - positives) / (len(a) * (len(a) - 1)),
    }


def uniformity(rows: ArrayLike) -> float:
    """log mean exp(-2 |x - y|²) over the pairs of rows [N, D] (Wang and Isola). 0 if all rows are equal."""
    return _uniformity(_unit("rows", rows))


def uniformity_w2(rows: ArrayLike) -> float:
    """-W2 from the Gaussian fit of rows [N, D] to N(0, I/D) (Fang et al.): 0 is uniform, -√2 fully collapsed."""
    return _uniformity_w2(_unit("rows", rows))


def class_structure(rows: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """tolerance: mean cosine of pairs of one class. inter_class_uniformity: uniformity over pairs of two classes.
    centroid_uniformity: over pairs of classes, each the mean of its rows; DySTreSS's inter-class uniformity, Eq. 19.

    Wang and Liu define tolerance over all pairs, where pairs of two classes count 0. Here, as in published code, it is
    the mean over pairs of one class. So it does not depend on the number of such pairs.
    """
    x = _unit("rows", rows)
    classes = tensor_of(labels)
    if classes.shape != (len(x),):
        raise UsageError(f"geometry: {len(x)} rows need as many classes; given {list(classes.shape)}.")
    kinds, number, sizes = torch.unique(classes, return_inverse=True, return_counts=True)
    same = int((sizes * (sizes - 1) // 2).sum())
    other = len(x) * (len(x) - 1) // 2 - same
    if not same or not other:
        missing = "one class" if not same else "two classes"
        raise UsageError(f"geometry: labels: there is no pair of {missing}, so there is nothing to average.")
    sums = x.new_zeros(len(kinds), x.shape[1]).index_add_(0, number, x)
    of_class = number.numpy()
    attraction = 0.0
    for i, j, cosines in _upper(x):
        apart = of_class[i : i + len(cosines), None] != of_class[None, j : j + cosines.shape[1]]
        attraction += float((_attraction(cosines) * apart).sum())
    distances = torch.pdist(sums / sizes[:, None])
    return {
        "tolerance": float(sums.square().sum() - x.square().sum()) / (2 * same),  # |sum|² holds each pair twice
        "inter_class_uniformity": math.log(attraction / other),
        "centroid_uniformity": math.log(float((-2 * distances.square()).exp().mean())),
    }


def _uniformity(x: Tensor) -> float:
    if len(x) < 2:
        raise UsageError("geometry: uniformity is of pairs; there is only one row.")
    total = sum(float(_attraction(cosines).sum()) for _, _, cosines in _upper(x))
    return math.log(total / (len(x) * (len(x) - 1) / 2))


def _uniformity_w2(x: Tensor) -> float:
    """W2² = |μ|² + 1 + tr Σ - 2/√D tr Σ^½, with Σ over N rather than N - 1."""
    mean = x.mean(0)
    values = torch.linalg.svdvals(x - mean) / math.sqrt(len(x))  # the roots of Σ's eigenvalues
    squared = mean.square().sum() + 1 + values.square().sum() - 2 / math.sqrt(x.shape[1]) * values.sum()
    return -math.sqrt(max(float(squared), 0.0))


def _attraction(cosines: Floats) -> Floats:
    """exp(-2 |x - y|²) of unit vectors, in place; 0 where there is no pair."""
    cosines *= 4
    cosines -= 4
    return np.exp(cosines, out=cosines)


def _upper(x: Tensor) -> Iterator[tuple[int, int, Floats]]:
    """Tiles of cosines and where they begin: each pair once. Elsewhere stands -inf."""
    for i in range(0, len(x), SIDE):
        for j in range(i, len(x), SIDE):
            cosines: Floats = (x[i : i + SIDE] @ x[j : j + SIDE].T).numpy()
            if i == j:
                cosines[np.tri(len(cosines), dtype=bool)] = -np.inf
            yield i, j, cosines


def _unit(name: str, rows: ArrayLike) -> Tensor:
    x = tensor_of(rows, torch.float64)
    require_rows("geometry", name, x)
    if zero := torch.nonzero(x.norm(dim=1) == 0).flatten()[:1].tolist():
        raise UsageError(f"geometry: {name}: row {zero[0]} is zero, so it has no direction.")
    return normalize(x, dim=-1)


@register_task(
    "geometry",
    title="Geometry",
    version=1,
    metrics=(),
    measures=(
        "gap", "alignment", "uniformity_image", "uniformity_text", "uniformity_w2", "uniformity_w2_image",
        "uniformity_w2_text", "positive_mean", "negative_mean", "tolerance_image", "tolerance_text",
        "inter_class_uniformity_image", "inter_class_uniformity_text", "centroid_uniformity_image",
        "centroid_uniformity_text",
    ),
    headline=("gap", "uniformity_image", "uniformity_text"),
)  # fmt: skip
class Geometry(Task):
    """Modality gap, alignment, uniformity, and similarities of pairs; with classes, also tolerance.

    Each image is paired with its first caption. A setup with one tower has the measures of its side only. Tolerance and
    the uniformity of classes need `classes`.
    """

    sides: Literal["both", "image", "text"] = "both"
    """Whose embeddings."""
    classes: str = ""
    """Name of a set of classes, for tolerance and the uniformity of classes; none if empty."""
    split: str = "test"
    """Which images and captions."""

    @property
    def embeds(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({"image", "text"} if self.sides == "both" else {self.sides})

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield partial(dataset.split, self.split)
        if self.sides != "image":
            yield lambda: dataset.split(self.split).captions_for("geometry of texts")
        if self.classes:
            yield partial(dataset.classes_of, self.classes)
            yield lambda: label_rows(dataset, dataset.split(self.split), self.classes)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        split = dataset.split(self.split)
        rows = {}
        if self.sides != "text":
            rows["image"] = embed.images(split).numpy()
        if self.sides != "image":
            rows["text"] = embed.texts([texts[0] for texts in split.captions_for("geometry of texts")]).numpy()
        measures = score(rows["image"], rows["text"]) if self.sides == "both" else {}
        for side, embedded in rows.items():
            if self.sides != "both":
                measures[f"uniformity_{side}"] = uniformity(embedded)
                measures[f"uniformity_w2_{side}"] = uniformity_w2(embedded)
            if self.classes:
                structure = class_structure(embedded, label_rows(dataset, split, self.classes))
                measures |= {f"{name}_{side}": value for name, value in structure.items()}
        return Scores({}, {"pairs": len(split)}, {}, measures)
