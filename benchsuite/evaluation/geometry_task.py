"""The geometry of a trained model's embeddings, as a task."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from benchsuite.data.base import PairDataset
from benchsuite.evaluation import geometry
from benchsuite.evaluation.base import Embedder, Scores, Task
from benchsuite.evaluation.labelled import label_rows
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
    inter-class uniformity need `classes`.
    """

    sides: Literal["both", "image", "text"] = "both"
    """Whose embeddings."""
    classes: str = ""
    """Name of a set of classes, for tolerance and inter-class uniformity; none if empty."""
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
        measures = geometry.score(rows["image"], rows["text"]) if self.sides == "both" else {}
        for side, embedded in rows.items():
            if self.sides != "both":
                measures[f"uniformity_{side}"] = geometry.uniformity(embedded)
                measures[f"uniformity_w2_{side}"] = geometry.uniformity_w2(embedded)
            if self.classes:
                structure = geometry.class_structure(embedded, label_rows(dataset, split, self.classes))
                measures |= {f"{name}_{side}": value for name, value in structure.items()}
        return Scores({}, {"pairs": len(split)}, {}, measures)
