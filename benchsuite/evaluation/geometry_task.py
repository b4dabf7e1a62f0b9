"""The geometry of a trained model's embeddings, as a task."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import PairDataset
from benchsuite.evaluation import geometry
from benchsuite.evaluation.base import Embedder, Scores, Task
from benchsuite.evaluation.labelled import label_rows
from benchsuite.fields import Count
from benchsuite.registry import register_task


@register_task(
    "geometry",
    title="Geometry",
    version=1,
    metrics=(),
    measures=(
        "gap",
        "alignment",
        "uniformity_image",
        "uniformity_text",
        "uniformity_w2",
        "uniformity_w2_image",
        "uniformity_w2_text",
        "positive_mean",
        "negative_mean",
        "tolerance_image",
        "tolerance_text",
        "inter_class_uniformity_image",
        "inter_class_uniformity_text",
    ),
    headline=("gap", "uniformity_image", "uniformity_text"),
)
class Geometry(Task):
    """Modality gap, alignment, uniformity, and similarities of pairs; with classes, also tolerance.

    Each image is paired with its first caption. A setup with one tower has the measures of its side only. Tolerance and
    inter-class uniformity need `classes`. Stored beside the record: cosine histograms of positives and negatives (100
    equal bins of [-1, 1]), and the indices of the positives of lowest cosine, lowest first.
    """

    sides: Literal["both", "image", "text"] = "both"
    """Whose embeddings."""
    classes: str = ""
    """Name of a set of classes, for tolerance and inter-class uniformity; none if empty."""
    lowest: Count = 20
    """How many of the lowest-scoring positives to store."""
    split: str = "test"
    """Which images and captions."""

    @property
    def embeds(self) -> frozenset[str]:
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
        counts: dict[str, NDArray[np.integer[Any]]] = {}
        measures: dict[str, float] = {}
        if self.sides == "both":
            counts, measures = pair_geometry(rows["image"], rows["text"], self.lowest)
        for side, embedded in rows.items():
            if self.sides != "both":
                measures[f"uniformity_{side}"] = geometry.uniformity(embedded)
                measures[f"uniformity_w2_{side}"] = geometry.uniformity_w2(embedded)
            if self.classes:
                structure = geometry.class_structure(embedded, label_rows(dataset, split, self.classes))
                measures |= {f"{name}_{side}": value for name, value in structure.items()}
        return Scores({}, {"pairs": len(split)}, counts, measures)


def pair_geometry(
    image: NDArray[np.float32], text: NDArray[np.float32], lowest: int
) -> tuple[dict[str, NDArray[np.integer[Any]]], dict[str, float]]:
    """The arrays stored beside the record, and the measures."""
    counted = geometry.histograms(image, text)
    pairs = [pair for pair, _ in geometry.lowest_positives(image, text, lowest)]
    counts: dict[str, NDArray[np.integer[Any]]] = {
        "positives": counted.positives,
        "negatives": counted.negatives,
        "lowest_positives": np.array(pairs, np.int32),
    }
    means = {"positive_mean": counted.positive_mean, "negative_mean": counted.negative_mean}
    return counts, geometry.score(image, text) | means
