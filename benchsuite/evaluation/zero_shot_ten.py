"""Zero-shot classification with Top-10: a task of its own, so that the metrics of the other stay as they were."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, Scores
from benchsuite.evaluation.ranks import recall
from benchsuite.evaluation.zero_shot import CUTS, ZeroShot
from benchsuite.registry import register_task

CUT = 10


@register_task(
    "zero-shot-10",
    title="Zero-shot classification, to Top-10",
    version=1,
    metrics=("top1", "top3", "top5", "top10"),
)
class ZeroShotTen(ZeroShot):
    """Top-1/3/5/10 accuracy of choosing the class whose prompts lie nearest to the picture; from 10 classes on.

    Everything else is as in zero-shot: Top-1/3/5 are the same numbers.
    """

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        names = dataset.class_names.get(self.classes, ())
        if names and len(names) < CUT:
            raise UsageError(f'zero-shot-10: "{self.classes}" has {len(names)} classes; use zero-shot below {CUT}.')
        return super().evaluate(embed, dataset)

    def from_ranks(self, ranks: Mapping[str, NDArray[Any]]) -> Scores:
        """What follows from each picture's rank of its class."""
        found = ranks["class"]
        return Scores({f"top{k}": recall(found, k) for k in (*CUTS, CUT)}, {"pictures": len(found)}, ranks)
