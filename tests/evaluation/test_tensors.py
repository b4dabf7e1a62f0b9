"""Read-only arrays, as Arrow and memory maps give them, are evaluated without a warning."""

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.evaluation import geometry, retrieval
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.tensors import tensor_of


def frozen(values: Any) -> NDArray[Any]:
    array = np.array(values)
    array.flags.writeable = False
    return array


class Frozen(PairDataset):
    card: ClassVar = Card("dataset", "frozen", __name__, "Frozen", "tests", __file__, "")
    class_names: ClassVar = {"kind": ["a", "b"]}
    templates: ClassVar = {"t": ["{}"]}

    def manifest(self) -> Manifest:
        return Manifest("frozen", 1, {"train": 4, "test": 4}, "0")

    def read(self, split: str) -> Split:
        labels = {"kind": frozen([0, 1, 0, 1]), "verb": frozen([0, 1, 0, 1]), "nouns": frozen([[0, -1]] * 4)}
        return Split(split, frozen(np.zeros((4, 1, 1, 3), np.uint8)), [["a"], ["b"]] * 2, labels=labels)


class Corners:
    def images(self, split: Split, features: bool = False) -> torch.Tensor:
        return torch.eye(2)[[0, 1, 0, 1]]

    def texts(self, texts: list[str], features: bool = False) -> torch.Tensor:
        return torch.eye(2)[["ab".index(text) for text in texts]]


@pytest.fixture
def strict() -> Iterator[None]:
    """Torch warns of such arrays once a process; here each time, and each warning is an error."""
    torch.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    torch.set_warn_always(False)


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("knn", {"classes": "kind"}),
        ("knn-plain", {"classes": "kind"}),
        ("linear-probe", {"classes": "kind"}),
        ("zero-shot", {"classes": "kind", "templates": "t"}),
        ("geometry", {"classes": "kind"}),
        ("retrieval", {}),
        ("multi-instance-retrieval", {}),
    ],
)
def test_tasks_take_read_only_labels(task: str, options: dict[str, str], strict: None) -> None:
    assert create_task(task, **options).evaluate(Corners(), Frozen()).counts  # type: ignore[arg-type]


def test_scores_take_read_only_embeddings(strict: None) -> None:
    rows = frozen([[1.0, 0.0], [0.0, 1.0]])
    assert retrieval.score(rows, rows, frozen([0, 1]))["r_mean"] == 1
    assert geometry.score(rows, rows)["gap"] == 0


def test_an_array_is_copied_and_a_tensor_is_not() -> None:
    array, tensor = np.zeros(2), torch.zeros(2)
    tensor_of(array)[0] = 1
    assert array.tolist() == [0, 0]
    assert tensor_of(tensor) is tensor
    assert tensor_of([1, 2], torch.float64).dtype == torch.float64
