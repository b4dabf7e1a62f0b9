"""What the images of `scenes` promise: the same bytes everywhere, distinct shapes, Zipf's law, honest labels."""

import numpy as np
import pytest

from benchsuite.data.synthetic import scene_world as world
from benchsuite.data.synthetic.scenes import Scenes

DEFAULT = "fe7c663c9146b23a34e2324fa53d64433bcf3cda3ceec861e0b5897072ffc354"


def generate(seed, split, count, **options):
    return Scenes(seed=seed, **{split: count}, **options).columns(split)


@pytest.mark.slow
def test_digest_of_the_default_world_is_pinned():
    assert Scenes().manifest().digest == DEFAULT


def test_a_short_split_is_the_beginning_of_a_long_one():
    short, long = (generate(5, "test", count) for count in (7, 1500))
    assert (short["images"] == long["images"][:7]).all()
    assert short["captions"] == long["captions"][:7]
    assert (short["pair_rank"] == long["pair_rank"][:7]).all()


def test_labels_are_the_main_objects():
    columns = generate(0, "test", 12)
    scenes = list(world.imagine(0, 2, 12))
    assert [scene.main_shape for scene in scenes] == columns["shape"].tolist()
    assert [scene.main_colour for scene in scenes] == columns["colour"].tolist()
    assert (columns["both"] == columns["colour"] * 10 + columns["shape"]).all()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
def test_mismatched_share_is_as_stated_and_only_in_training(share):
    train, true = (generate(2, "train", 200, mismatched=mismatched) for mismatched in (share, 0.0))
    assert (~train["matched"]).sum() == round(200 * share)
    assert generate(2, "validation", 50, mismatched=share)["matched"].all()
    assert generate(2, "test", 50, mismatched=share)["matched"].all()
    for name in ("captions", "paraphrases"):
        assert [a == b for a, b in zip(train[name], true[name], strict=True)] == train["matched"].tolist()
    assert (train["images"] == true["images"]).all()
    assert (train["both"] == true["both"]).all()
    wrong = np.flatnonzero(~train["matched"])
    assert sorted(train["captions"][i] for i in wrong) == sorted(true["captions"][i] for i in wrong)
    for i in wrong:  # caption and paraphrases come from the same other image
        assert true["captions"].index(train["captions"][i]) == true["paraphrases"].index(train["paraphrases"][i])


def test_a_single_mismatched_pair_gets_a_partner():
    assert (~generate(2, "train", 20)["matched"]).sum() == 2
