"""The mean reciprocal rank of an image, given its caption."""

import numpy as np
import torch

from benchsuite import PairDataset, Task, register_task
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.evaluation.retrieval import rank_both
from benchsuite.records.recompute import RankRule, Ranks, Scores


@register_task("example-mrr", title="Mean reciprocal rank", version=1, metrics=("mrr",), headline="mrr")
class MeanReciprocalRank(Task):
    """1 if the image of each caption is the nearest one, 1/2 if it is the second, and so on."""

    split: str = "test"

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        """Each image's first caption is the query."""
        split = dataset.split(self.split)
        texts = embed.texts([captions[0] for captions in split.captions])
        ranks = rank_both(embed.images(split), texts, torch.arange(len(split)))
        return self.from_ranks({"t2i": ranks["t2i"]})


def from_ranks(ranks: Ranks) -> Scores:
    """The rule by which `benchsuite verify` recomputes the number."""
    return Scores({"mrr": float(np.mean(1 / ranks["t2i"]))}, {"queries": len(ranks["t2i"])}, ranks)


RULES["example-mrr"] = RankRule(from_ranks, split_count="queries")
