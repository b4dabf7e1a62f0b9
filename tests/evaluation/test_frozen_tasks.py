"""Tasks on frozen features and on geometry, from dataset to scores."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.evaluation import geometry
from benchsuite.evaluation.base import Scores, create_task
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.registry import tasks

SIZES = {"train": 60, "test": 20}


class Blobs(PairDataset):
    """Three classes; a picture's red channel is its class."""

    card: ClassVar = Card("dataset", "blobs", __name__, "Blobs", "tests", __file__, "")
    class_names: ClassVar = {"kind": ["a", "b", "c"], "unsaid": ["x"]}
    missing: ClassVar[dict[str, int]] = {}

    def manifest(self) -> Manifest:
        return Manifest("blobs", 1, SIZES, "0")

    def read(self, split: str) -> Split:
        labels = np.arange(SIZES[split]) % 3
        if split in self.missing:
            labels[labels == self.missing[split]] = 0
        images = np.broadcast_to(labels.astype(np.uint8)[:, None, None, None], (len(labels), 2, 2, 3))
        return Split(split, images, [["abc"[i], "more"] for i in labels], labels={"kind": labels})


class Noisy:
    """Features that lie around a corner for each class; texts exactly on it."""

    noise = 0.3

    def once(self, what: object, compute: Callable[[], Any]) -> Any:
        return compute()

    def images(self, split: Split, features: bool = False) -> Tensor:
        generator = torch.Generator().manual_seed(len(split))
        corners = torch.eye(4)[torch.from_numpy(split.images[:, 0, 0, 0].astype(np.int64))]
        return normalize(corners + self.noise * torch.randn(corners.shape, generator=generator), dim=-1)

    def texts(self, texts: list[str], features: bool = False) -> Tensor:
        return torch.eye(4)[torch.tensor(["abc".index(text) for text in texts])]


def evaluate(task: str, embed: Any = None, dataset: PairDataset | None = None, **options: Any) -> Scores:
    return create_task(task, **options).evaluate(embed or Noisy(), dataset or Blobs())


CLASSIFIERS = ["knn", "knn-plain", "linear-probe"]


@pytest.mark.parametrize("task", CLASSIFIERS)
def test_separable_features_are_classified(task: str) -> None:
    scores = evaluate(task, classes="kind")
    assert set(scores.metrics) == set(tasks.card(task).about["metrics"])
    assert min(scores.metrics.values()) > 0.9
    assert scores.counts == {"samples": 20}
    assert set(evaluate(task, classes="kind", side="text").metrics.values()) == {1.0}


@pytest.mark.parametrize("task", [*CLASSIFIERS, "retrieval", "geometry", "zero-shot"])
def test_evaluation_ends_in_what_follows_from_ranks(task: str) -> None:
    options = {"zero-shot": {"classes": "kind", "templates": "t"}}.get(task, {"classes": "kind"})
    options = {} if task == "retrieval" else options
    dataset = Blobs()
    dataset.templates = {"t": ["{}"]}  # type: ignore[misc]
    if task == "retrieval":
        dataset.read = lambda name: Split(name, np.zeros((2, 1, 1, 3), np.uint8), [["a"], ["b"]])  # type: ignore[method-assign]
    one = create_task(task, **options)
    scores = one.evaluate(Noisy(), dataset)  # type: ignore[arg-type]
    again = one.from_ranks(scores.ranks)
    assert again.metrics == scores.metrics
    told = (
        {"top1"} if task == "zero-shot" else set(tasks.card(task).about["metrics"])
    )  # of two classes, top-3 is always 1
    assert set(scores.metrics) == told
    assert set(scores.measures) <= set(tasks.card(task).about.get("measures", ()))
    assert again.measures.items() <= scores.measures.items()
    if task != "geometry":
        assert set(scores.measures) - set(again.measures) == set(RULES[task].not_recomputable) & set(scores.measures)
        assert again.counts == scores.counts


@pytest.mark.parametrize("task", CLASSIFIERS)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"classes": "kinds"}, 'Did you mean "kind"'),
        ({"classes": "unsaid"}, 'blobs, split .*: labels "unsaid" does not exist'),
        ({"classes": "kind", "bank": "tran"}, 'split "tran"'),
        ({"classes": "kind", "side": "sound"}, "side = .sound. is not possible"),
    ],
)
def test_what_cannot_be_classified_is_refused(task: str, options: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        evaluate(task, **options)


@pytest.mark.parametrize("task", CLASSIFIERS)
def test_an_empty_class_is_refused_by_name(task: str) -> None:
    dataset = Blobs()
    dataset.missing = {"train": 2}  # type: ignore[misc]
    with pytest.raises(UsageError, match=f'{task}: class "c" of "kind" is asked for but is empty'):
        evaluate(task, dataset=dataset, classes="kind")


@pytest.mark.parametrize("task", CLASSIFIERS)
def test_features_that_are_no_numbers_and_classes_without_names_are_refused(task: str) -> None:
    embed = Noisy()
    embed.noise = float("nan")
    with pytest.raises(UsageError, match="features of split train: row 0 is not finite"):
        evaluate(task, embed, classes="kind")
    dataset = Blobs()
    dataset.class_names = {"kind": ["a", "b"]}  # type: ignore[misc]
    with pytest.raises(UsageError, match='class 2 of "kind", which has 2 names'):
        evaluate(task, dataset=dataset, classes="kind")


def test_a_probe_that_stops_early_says_so() -> None:
    stopped = evaluate("linear-probe", classes="kind", c=1e6, max_iterations=1)
    assert (stopped.measures["converged"], stopped.measures["iterations"]) == (0, 1)


def test_geometry_of_both_sides_and_classes() -> None:
    scores = evaluate("geometry", classes="kind")
    assert set(scores.measures) == set(tasks.card("geometry").about["measures"])
    split = Blobs().split("test")
    image, text = Noisy().images(split), Noisy().texts([texts[0] for texts in split.captions])
    assert scores.measures["gap"] == geometry.score(image, text)["gap"]
    assert scores.measures["positive_mean"] > scores.measures["negative_mean"]
    assert scores.measures["tolerance_text"] == 1


@pytest.mark.parametrize("side", ["image", "text"])
def test_geometry_of_one_side_asks_for_no_other(side: str) -> None:
    class OneTower(Noisy):
        def images(self, split: Split, features: bool = False) -> Tensor:
            assert side == "image"
            return super().images(split, features)

        def texts(self, texts: list[str], features: bool = False) -> Tensor:
            assert side == "text"
            return super().texts(texts, features)

    scores = evaluate("geometry", OneTower(), sides=side)
    assert set(scores.measures) == {f"uniformity_{side}", f"uniformity_w2_{side}"}


def test_geometry_refuses_classes_that_are_not_there() -> None:
    with pytest.raises(UsageError, match='Did you mean "kind"'):
        evaluate("geometry", classes="knid")
    with pytest.raises(UsageError, match='labels "unsaid"'):
        evaluate("geometry", classes="unsaid")
