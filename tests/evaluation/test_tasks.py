from typing import Any

import pytest
import torch
from torch.nn.functional import normalize

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.labelled import class_embeddings

RED, BLUE = (1.0, 0.0), (0.0, 1.0)
TEXTS = {"red": RED, "blue": BLUE, "a red thing": (1.0, 1.0), "a blue thing": (-1.0, 1.0), "sky": RED, "sea": RED}


def test_retrieval_uses_every_caption_of_the_split(pictures: PairDataset, fake: Any) -> None:
    scores = create_task("retrieval").evaluate(fake([RED, BLUE, RED], TEXTS), pictures)
    assert scores.counts == {"i2t": 3, "t2i": 4}
    assert scores.ranks["i2t"].tolist() == [3, 1, 3]
    assert scores.ranks["t2i"].tolist() == [2, 1, 3, 2]
    assert scores.metrics["t2i_r1"] == 0.25
    assert scores.measures == {"i2t_median_rank": 3, "t2i_median_rank": 2}


def test_templates_are_normalised_averaged_and_normalised(fake: Any) -> None:
    texts = {"cat": (10.0, 0.0), "dog": (0.06, 0.08), "a cat": (0.0, 1.0), "a dog": (6.0, 8.0)}
    found = class_embeddings(fake([], texts), [["cat", "a cat"], ["dog", "a dog"]])
    expected = normalize(torch.tensor([[0.5, 0.5], [0.6, 0.8]]), dim=-1)
    assert torch.allclose(found, expected)


def test_zero_shot_picks_the_nearest_class(pictures: PairDataset, fake: Any) -> None:
    task = create_task("zero-shot", classes="colour", templates="one")
    scores = task.evaluate(fake([RED, RED, BLUE], TEXTS), pictures)
    assert scores.metrics == {"top1": pytest.approx(2 / 3)}
    assert scores.counts == {"pictures": 3}
    assert scores.ranks["class"].tolist() == [1, 2, 1]


def test_the_set_of_templates_is_used(pictures: PairDataset, fake: Any) -> None:
    embed = fake([(0.6, 0.8), BLUE, BLUE], TEXTS)
    tops = {
        name: create_task("zero-shot", classes="colour", templates=name).evaluate(embed, pictures).metrics["top1"]
        for name in ("one", "two")
    }
    assert tops == {"one": pytest.approx(2 / 3), "two": 1.0}


def test_ties_between_classes_count_against_the_model(pictures: PairDataset, fake: Any) -> None:
    embed = fake([(1.0, 1.0)] * 3, TEXTS)
    assert create_task("zero-shot", classes="colour", templates="one").evaluate(embed, pictures).metrics["top1"] == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"classes": "color", "templates": "one"}, 'pictures: set of classes "color" .* Did you mean "colour"'),
        ({"classes": "colour", "templates": "tow"}, 'pictures: set of templates "tow" .* Did you mean "two"'),
        ({"classes": "colour", "templates": "one", "split": "x"}, 'pictures: split "x"'),
    ],
)
def test_zero_shot_names_what_the_dataset_lacks(
    pictures: PairDataset, fake: Any, options: dict[str, str], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        create_task("zero-shot", **options).evaluate(fake([RED] * 3, TEXTS), pictures)
