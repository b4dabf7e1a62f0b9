import importlib.util
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

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


@pytest.mark.skipif(importlib.util.find_spec("clip_benchmark") is None, reason='the extra "zeroshot" is not installed')
def test_agrees_with_clip_benchmarks_classifier_and_scikit_learns_top_k(fake: Any) -> None:
    from clip_benchmark.metrics.zeroshot_classification import zero_shot_classifier
    from sklearn.metrics import top_k_accuracy_score

    rng = np.random.default_rng(1)
    theirs = ["a {c}.", "the {c}."]
    texts = {t.format(c=name): rng.normal(size=6).tolist() for name in NAMES for t in theirs}
    images = rng.normal(size=(12, 6)).tolist()

    class Model:
        def encode_text(self, rows: torch.Tensor) -> torch.Tensor:
            return rows

    weights = zero_shot_classifier(
        Model(), lambda t: torch.tensor([texts[x] for x in t]), NAMES, theirs, "cpu", amp=False
    )
    logits = (torch.tensor(images) @ weights).numpy()  # their own accuracy() does not run on numpy 2.4
    expected = [top_k_accuracy_score(np.arange(12), logits, k=k) for k in (1, 3, 5, 10)]
    data = Dozen()
    data.templates = {"names": ["a {}.", "the {}."]}  # type: ignore[misc]
    scores = create_task("zero-shot", classes="thing", templates="names").evaluate(fake(images, texts), data)
    assert list(scores.metrics.values()) == pytest.approx(expected)
