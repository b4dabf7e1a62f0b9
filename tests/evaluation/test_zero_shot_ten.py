import importlib.util
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.registry import tasks

NAMES = [f"thing {i}" for i in range(12)]


class Dozen(PairDataset):
    card: ClassVar = Card("dataset", "dozen", __name__, "Dozen", "tests", __file__, "")
    class_names: ClassVar = {"thing": NAMES, "nine": NAMES[:9]}
    templates: ClassVar = {"names": ["{}"]}

    def manifest(self) -> Manifest:
        return Manifest("dozen", 1, {"test": 12}, "0")

    def read(self, split: str) -> Split:
        labels = {"thing": np.arange(12), "nine": np.arange(12) % 9}
        return Split(split, np.zeros((12, 2, 2, 3), np.uint8), [[n] for n in NAMES], labels=labels)


def test_top_ten_beside_the_same_other_numbers(fake: Any) -> None:
    rng = np.random.default_rng(0)
    texts = dict(zip(NAMES, rng.normal(size=(12, 4)).tolist(), strict=True))
    embed = fake(rng.normal(size=(12, 4)).tolist(), texts)
    options = {"classes": "thing", "templates": "names"}
    ten = create_task("zero-shot-10", **options).evaluate(embed, Dozen())
    plain = create_task("zero-shot", **options).evaluate(embed, Dozen())
    assert ten.metrics == {**plain.metrics, "top10": float(np.mean(ten.ranks["class"] <= 10))}
    assert 0 < ten.metrics["top5"] < ten.metrics["top10"] < 1


def test_a_collapsed_model_is_not_among_the_ten(fake: Any) -> None:
    embed = fake([[1.0, 0.0]] * 12, {key: [1.0, 0.0] for key in NAMES})
    scores = create_task("zero-shot-10", classes="thing", templates="names").evaluate(embed, Dozen())
    assert set(scores.metrics.values()) == {0.0}


def test_nine_classes_have_no_top_ten(fake: Any) -> None:
    with pytest.raises(UsageError, match='zero-shot-10: "nine" has 9 classes; use zero-shot'):
        create_task("zero-shot-10", classes="nine", templates="names").evaluate(fake([], {}), Dozen())


def test_the_task_without_it_is_what_it_was() -> None:
    about = tasks.card("zero-shot").about
    assert (about["version"], about["metrics"]) == (1, ("top1", "top3", "top5"))


def test_each_cut_counts_ranks_up_to_itself() -> None:
    task = create_task("zero-shot-10", classes="thing", templates="names")
    scores = task.from_ranks({"class": np.array([1, 3, 5, 10, 11], np.int32)})  # type: ignore[attr-defined]
    assert scores.metrics == pytest.approx({"top1": 0.2, "top3": 0.4, "top5": 0.6, "top10": 0.8})


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
    scores = create_task("zero-shot-10", classes="thing", templates="names").evaluate(fake(images, texts), data)
    assert list(scores.metrics.values()) == pytest.approx(expected)
