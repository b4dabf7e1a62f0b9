"""What `scenes-sts` promises: facts read back as they were meant, and pairs of the captions of scenes."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data import create_dataset
from benchsuite.data.synthetic.scenes import Scenes
from benchsuite.data.synthetic.scenes_sts import MEANING, ScenesSts, alike, read
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import create_task

DEFAULT = "4a20f68087fd5f3440bf901efc8c7400b7102cd8869e320011cb9f502190f111"


@pytest.fixture(scope="module")
def data() -> ScenesSts:
    found = create_dataset("scenes-sts", seed=7, validation=60, test=150)
    assert isinstance(found, ScenesSts)
    return found


def test_digest_of_the_default_pairs_is_pinned() -> None:
    assert create_dataset("scenes-sts").manifest().digest == DEFAULT


def test_a_caption_is_read_as_objects_relation_and_ground() -> None:
    said = read("a picture of the huge crimson disc to the left of an azure thing on lined turf")
    assert said.objects == (
        frozenset({("size", "big"), ("colour", "red"), ("shape", "circle")}),
        frozenset({("colour", "blue")}),
    )
    assert said.relation == "left"
    assert said.ground == {("pattern", "striped"), ("ground", "grass")}


def test_what_is_left_out_is_no_fact() -> None:
    said = read("there is one hoop with a jet object")
    assert said.objects == (frozenset({("shape", "ring")}), frozenset({("colour", "black")}))
    assert (said.relation, said.ground) == (None, frozenset())
    assert read("this is a golden plus").objects == (frozenset({("colour", "yellow"), ("shape", "cross")}),)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("a red circle on grass", "there is the crimson disc on turf", 1),
        ("a red circle above a star", "the star under one red circle", 1),
        ("a red circle above a star", "a star above a red circle", 3 / 5),
        ("a red circle and a star", "the pentagram with a crimson circle", 1),
        ("a red circle", "a blue star", 0),
        ("a red circle", "a red star", 1 / 3),
        ("a red star", "a big blue circle with a red star", 2 / 5),
        ("a big blue circle with a red star", "a red star", 2 / 5),
        ("a red circle and a blue star", "a blue circle and a red star", 2 / 6),
        ("a red circle and a red star", "a red circle", 2 / 4),
        ("a red thing on sand", "a circle on dotted gravel", 1 / 4),
    ],
)
def test_gold_is_the_share_of_facts_in_common(a: str, b: str, share: float) -> None:
    assert alike(a, b) == pytest.approx(share)


def test_gold_is_symmetric_and_1_only_for_the_same_facts(data: ScenesSts) -> None:
    pairs = data.pairs("test")["same"]
    for x, y in combinations([*pairs.a[:25], *pairs.b[:25]], 2):
        found = alike(x, y)
        assert found == alike(y, x)
        assert 0 <= found <= 1
        facts = [sorted(fact for part in (*read(text).objects, read(text).ground) for fact in part) for text in (x, y)]
        assert found < 1 or facts[0] == facts[1]
    assert all(alike(x, x) == 1 for x in pairs.a)


def test_pairs_are_captions_of_the_splits_of_scenes(data: ScenesSts) -> None:
    for name, count in (("validation", 60), ("test", 150)):
        captions = Scenes(seed=7, **{name: count}).columns(name)["captions"]
        found = data.pairs(name)
        assert list(found) == ["same", "near", "any"]
        first, second = [texts[0] for texts in captions], [texts[1] for texts in captions]
        assert (found["same"].a, found["same"].b) == (first, second)
        assert found["any"].a == first
        assert set(found["near"].a) <= set(first)
        assert {*found["near"].b, *found["any"].b} <= set(second)


class Words:
    """A sentence as the facts it names, whatever they are of: what a good bag of words would know."""

    facts = sorted({fact for fact in MEANING.values() if fact})

    def texts(self, texts: Sequence[str], features: bool = False) -> Tensor:
        rows = torch.zeros(len(texts), len(self.facts))
        for i, text in enumerate(texts):
            for part in (*read(text).objects, read(text).ground):
                for fact in part:
                    rows[i, self.facts.index(fact)] += 1
        return normalize(rows, dim=-1)


class Nothing(Words):
    def texts(self, texts: Sequence[str], features: bool = False) -> Tensor:
        return normalize(torch.from_numpy(np.random.default_rng(0).normal(size=(len(texts), 8))), dim=-1)


def test_the_task_sts_reads_it(data: ScenesSts) -> None:
    scores = create_task("sts", sets=["test", "validation"]).evaluate(Words(), data)  # type: ignore[arg-type]
    assert scores.counts["test"] == sum(len(pairs.gold) for pairs in data.pairs("test").values())
    assert min(scores.measures[name] for name in ("test", "validation", "average")) > 0.9
    chance = create_task("sts", sets=["test"]).evaluate(Nothing(), data)  # type: ignore[arg-type]
    assert abs(chance.measures["average"]) < 0.2


def test_other_sets_and_splits_of_images_are_refused(data: ScenesSts) -> None:
    with pytest.raises(UsageError, match=r'scenes-sts: similarity set "STS12" does not exist.*'):
        create_task("sts").evaluate(Words(), data)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="scenes-sts: split"):
        data.split("test")
    with pytest.raises(UsageError, match="scenes-sts: test = 5 is not possible"):
        create_dataset("scenes-sts", test=5)
