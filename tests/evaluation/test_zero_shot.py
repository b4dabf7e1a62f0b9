from typing import Any, ClassVar

import numpy as np

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.evaluation.base import create_task

NAMES = [f"thing {i}" for i in range(12)]


class Dozen(PairDataset):
    card: ClassVar = Card("dataset", "dozen", __name__, "Dozen", "tests", __file__, "")
    class_names: ClassVar = {"thing": NAMES}
    templates: ClassVar = {"names": ["{}"]}

    def manifest(self) -> Manifest:
        return Manifest("dozen", 1, {"test": 12}, "0")

    def read(self, split: str) -> Split:
        labels = {"thing": np.arange(12)}
        return Split(split, np.zeros((12, 2, 2, 3), np.uint8), [[n] for n in NAMES], labels=labels)


def test_a_collapsed_model_is_right_nowhere(fake: Any) -> None:
    embed = fake([[1.0, 0.0]] * 12, {key: [1.0, 0.0] for key in NAMES})
    scores = create_task("zero-shot", classes="thing", templates="names").evaluate(embed, Dozen())
    assert set(scores.metrics.values()) == {0.0}
