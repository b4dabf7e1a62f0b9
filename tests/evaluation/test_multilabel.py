from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import RecordError, UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.multilabel import class_ranks
from benchsuite.evaluation.rank_metrics import RULES


class Things(PairDataset):
    """Three pictures: of both things, of none, of the second."""

    card: ClassVar = Card("dataset", "things", __name__, "Things", "tests", __file__, "")
    class_names: ClassVar = {"thing": ["cat", "dog"], "more": ["cat", "dog", "owl"], "less": ["cat"]}
    templates: ClassVar = {"one": ["{}"]}

    def manifest(self) -> Manifest:
        return Manifest("things", 1, {"test": 3}, "0")

    def read(self, split: str) -> Split:
        ids = np.array([[0, 1], [-1, -1], [1, -1]])
        return Split(split, np.zeros((3, 2, 2, 3), np.uint8), labels=dict.fromkeys(self.class_names, ids))


def precision(scores: NDArray[np.float64], shown: NDArray[np.bool_]) -> float:
    return RULES["multilabel"](class_ranks(scores, shown), {}).metrics["map"]


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 5))
def test_precision_is_scikit_learns_where_no_scores_are_equal(seed: int, images: int, classes: int) -> None:
    draw = np.random.default_rng(seed)
    scores, shown = draw.permuted(np.arange(images * classes)).reshape(images, classes), draw.random((images, classes))
    truth = (shown < 0.3) | (np.arange(images) == draw.integers(images))[:, None]
    expected = [average_precision_score(truth[:, k], scores[:, k]) for k in range(classes)]
    assert precision(scores.astype(float), truth) == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.mark.parametrize("fill", [1.0, float("nan")])
def test_a_model_that_tells_nothing_apart_ranks_every_images_class_last(fill: float) -> None:
    shown = np.array([[1, 0], [0, 1], [0, 1], [0, 0]], bool)
    assert class_ranks(np.full((4, 2), fill), shown)["class"].tolist() == [4, 3, 4]


def test_what_is_no_number_counts_against_the_model() -> None:
    scores, shown = np.array([[np.nan], [1.0], [np.nan], [0.0]]), np.array([[1], [1], [0], [0]], bool)
    assert class_ranks(scores, shown)["class"].tolist() == [2, 4]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"relevant": [1, 1]}, "class has 3 ranks, where relevant has 2"),
        ({"class": [1, 1, 2]}, "do not rise"),
        ({"pictures": [1]}, "beyond the 1 pictures"),
    ],
)
def test_stored_ranks_that_no_model_can_have_are_refused(changes: dict[str, list[int]], says: str) -> None:
    stored = {"class": [1, 3, 2], "relevant": [2, 1], "pictures": [4]}
    with pytest.raises(RecordError, match=says):
        RULES["multilabel"]({name: np.array(values) for name, values in (stored | changes).items()}, {})


def test_classes_count_alike_and_images_without_any_count_for_none(fake: Any) -> None:
    embed = fake([(1.0, 0.2), (1.0, 0.0), (0.0, 1.0)], {"cat": (1.0, 0.0), "dog": (0.0, 1.0)})
    scores = create_task("multilabel", classes="thing", templates="one").evaluate(embed, Things())
    assert scores.metrics == {"map": pytest.approx((1 / 2 + 1) / 2)}
    assert scores.counts == {"pictures": 3}


@pytest.mark.parametrize(
    ("classes", "says"),
    [
        ("more", 'no image of split test shows "owl" of "more"'),
        ("less", 'class 1 of "less", which has 1 names'),
        ("thin", 'things: set of classes "thin" .* Did you mean "thing"'),
    ],
)
def test_labels_and_names_that_disagree_are_refused_before_anything_is_embedded(classes: str, says: str) -> None:
    task = create_task("multilabel", classes=classes, templates="one")
    (problem,) = task.problems(Things())
    with pytest.raises(UsageError, match=says):
        raise UsageError(problem)
