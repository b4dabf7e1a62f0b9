from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.matching import instance_ranks


class Rows:
    """Embeddings of images by row, and of captions that are their row's number."""

    def __init__(self, image: Tensor, text: Tensor) -> None:
        self._image, self._text = image, text

    def images(self, split: Split) -> Tensor:
        return self._image

    def texts(self, texts: list[str]) -> Tensor:
        return self._text[[int(text) for text in texts]]


def scores(image: Tensor, text: Tensor, images: int, each: int) -> Any:
    captions = [[str(each * i + k) for k in range(each)] for i in range(len(image))]
    split = Split("test", np.zeros((len(image), 1, 1, 3), np.uint8), captions)
    dataset: Any = type("Data", (), {"split": lambda self, name: split})()
    embed: Any = Rows(image, text)
    return create_task("matching", images=images).evaluate(embed, dataset)


def naive(image: Tensor, text: Tensor, images: int, captions: int) -> dict[str, float]:
    """An instance after the other, as Winoground's authors count."""
    right: dict[str, list[bool]] = {"text": [], "image": [], "group": []}
    for n in range(len(image) // images):
        a, b = image[n * images : (n + 1) * images], text[n * captions : (n + 1) * captions]
        score = [[float((x * y).sum()) for y in b] for x in a]
        own = [score[i][i] for i in range(images)]
        texts = all(own[i] > score[i][k] for i in range(images) for k in range(captions) if k != i)
        pictures = all(own[i] > score[k][i] for i in range(images) for k in range(images) if k != i)
        for name, value in (("text", texts), ("image", pictures), ("group", texts and pictures)):
            right[name].append(value)
    return {name: float(np.mean(values)) for name, values in right.items()}


@given(st.integers(1, 6), st.sampled_from([(1, 2), (1, 3), (2, 1), (3, 1)]), st.integers(0, 1000))
def test_instances_count_as_the_naive_rule_counts_them(count: int, shape: tuple[int, int], seed: int) -> None:
    images, each = shape
    draw = torch.Generator().manual_seed(seed)
    image, text = (torch.randint(-2, 3, (count * images * n, 3), generator=draw).double() for n in (1, each))
    found, expected = scores(image, text, images, each), naive(image, text, images, images * each)
    assert found.metrics == (expected if images > 1 else {"text": expected["text"]})
    assert found.counts == {"instances": count}


def test_texts_may_be_told_apart_where_images_are_not() -> None:
    image, text = torch.tensor([[3.0, 1.0], [1.0, 2.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.5]])
    assert scores(image, text, 2, 1).metrics == {"text": 0.0, "image": 0.0, "group": 0.0}
    image, text = torch.tensor([[2.0, 1.0], [0.0, 1.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    assert scores(image, text, 2, 1).metrics == {"text": 1.0, "image": 0.0, "group": 0.0}


@pytest.mark.parametrize("fill", [1.0, float("nan")])
def test_a_model_that_tells_nothing_apart_scores_nothing(fill: float) -> None:
    ranks = instance_ranks(torch.full((3, 2, 4), fill), torch.full((3, 2, 4), fill))
    assert all((each == 2).all() for each in ranks.values())


@pytest.mark.parametrize(
    ("captions", "images", "message"),
    [
        ([["a", "b"], ["a"]], 1, "image 1 has 1 captions; with images = 1 each needs 2"),
        ([["a"], ["b"]], 1, "image 0 has 1 captions; with images = 1 each needs 2"),
        ([["a"], ["b", "c"]], 2, "image 1 has 2 captions; with images = 2 each needs 1"),
        ([["a"], ["b"], ["c"]], 2, "3 images are no whole instances of 2"),
        ([], 1, "split test has no captions, which matching needs"),
    ],
)
def test_instances_that_are_not_alike_are_refused_before_anything_is_embedded(
    captions: list[list[str]], images: int, message: str
) -> None:
    split = Split("test", np.zeros((len(captions) or 2, 1, 1, 3), np.uint8), captions)
    dataset: Any = type("Data", (PairDataset,), {"split": lambda self, name: split, "manifest": None, "read": None})()
    (problem,) = create_task("matching", images=images).problems(dataset)
    assert message in problem


def test_images_is_a_count() -> None:
    with pytest.raises(UsageError, match="images = 0 is not possible"):
        create_task("matching", images=0)
