"""Zero-shot classification with Top-10: a task of its own, so that the metrics of the other stay as they were."""

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation import rank_metrics
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.scores import Ranks, Scores
from benchsuite.evaluation.zero_shot import ZeroShot
from benchsuite.registry import register_task

CUT = 10


@register_task(
    "zero-shot-10",
    title="Zero-shot classification, to Top-10",
    version=1,
    metrics=("top1", "top3", "top5", "top10"),
    headline="top1",
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

    def from_ranks(self, ranks: Ranks) -> Scores:
        return rank_metrics.zero_shot_ten(ranks)
