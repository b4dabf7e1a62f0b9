"""What the images of `scenes` promise: the same bytes everywhere, distinct shapes, Zipf's law, honest labels."""

import numpy as np
import pytest

from benchsuite.data.synthetic import scene_drawing as drawing
from benchsuite.data.synthetic import scene_world as world
from benchsuite.data.synthetic.base import digest, digest_of
from benchsuite.data.synthetic.scenes import Scenes, generate

SIZES = {"train": 60, "validation": 12, "test": 12}
SMALL = "99d34869071408fdb1502f1d56f7ce630ab8e94c2ad7a982f8b88f6d749f4948"
DEFAULT = "fe7c663c9146b23a34e2324fa53d64433bcf3cda3ceec861e0b5897072ffc354"


def digest_of_sizes(seed, sizes=SIZES):
    return digest_of({split: digest(generate(seed, split, count)) for split, count in sizes.items()})


def test_digest_of_a_small_world_is_pinned():
    assert digest_of_sizes(0) == SMALL


def test_digest_of_the_default_world_is_pinned():
    assert Scenes().manifest().digest == DEFAULT


def test_same_seed_same_bytes_and_other_seed_other_bytes():
    assert digest_of_sizes(3) == digest_of_sizes(3)
    assert digest_of_sizes(3) != digest_of_sizes(4)


def test_seeds_beyond_32_bits_differ():
    assert digest_of_sizes(1) != digest_of_sizes(1 + 2**32)


def test_a_short_split_is_the_beginning_of_a_long_one():
    short, long = (generate(5, "test", count) for count in (7, 1500))
    assert (short["images"] == long["images"][:7]).all()
    assert short["captions"] == long["captions"][:7]
    assert (short["pair_rank"] == long["pair_rank"][:7]).all()


def test_splits_show_different_images():
    seen = [{image.tobytes() for image in generate(0, split, count)["images"]} for split, count in SIZES.items()]
    assert sum(map(len, seen)) == len(set.union(*seen)) == sum(SIZES.values())


def test_ranks_follow_zipf():
    rank = world.imagine(0, 0, 40_000).pair_rank
    weights = world.zipf_weights() / world.zipf_weights().sum()
    for start, stop in ((0, 1), (0, 10), (10, 100), (100, 1000), (1000, world.PAIRS)):
        share = weights[start:stop].sum()
        spread = 4 * np.sqrt(share * (1 - share) / len(rank))
        assert abs(((rank >= start) & (rank < stop)).mean() - share) < spread


def test_head_is_heavier_than_tail():
    rank = generate(0, "train", 4000)["pair_rank"]
    common, rare = rank[rank <= np.median(rank)], rank[rank > np.median(rank)]
    assert 4 * len(np.unique(common)) < len(np.unique(rare))
    assert np.bincount(rank).argmax() < 3


def test_every_pair_has_one_rank_and_classes_stay_near_balance():
    pairs = world.pairs_by_rank(0)
    assert sorted(pairs) == list(range(world.PAIRS))
    for block in pairs.reshape(-1, world.KINDS):
        assert len(set(block // world.KINDS)) == len(set(block % world.KINDS)) == world.KINDS
    kinds = np.bincount(generate(0, "train", 12_000)["both"], minlength=100)
    assert kinds.min() > 40
    assert kinds.max() < 400


def test_labels_are_the_main_objects():
    columns = generate(0, "test", 12)
    scenes = list(world.imagine(0, 2, 12))
    assert [scene.main_shape for scene in scenes] == columns["shape"].tolist()
    assert [scene.main_colour for scene in scenes] == columns["colour"].tolist()
    assert (columns["both"] == columns["colour"] * 10 + columns["shape"]).all()


def test_objects_stay_inside_and_do_not_overlap():
    scenes = world.imagine(1, 0, 3000)
    for scene, main, other in zip(scenes, scenes.main_box, scenes.other_box, strict=True):
        a, b = world.MAIN_SIDE[scene.big], world.OTHER_SIDE[scene.small]
        assert min(*main, *other) >= 0
        assert max(main) + a <= world.SIDE
        assert max(other) + b <= world.SIDE
        gap = {"left": other[0] - main[0] - a, "right": main[0] - other[0] - b}
        gap |= {"above": other[1] - main[1] - a, "below": main[1] - other[1] - b}
        assert gap[world.RELATIONS[scene.relation]] >= 0
        assert sum(value >= 0 for value in gap.values()) == 1, "only one relation may be true"


def test_main_object_shows_its_colour_and_is_the_larger():
    scenes = world.imagine(2, 0, 400)
    images = drawing.paint(scenes, world.stream(0))
    assert min(world.MAIN_SIDE) > max(world.OTHER_SIDE)
    for scene, box, image in zip(scenes, scenes.main_box, images, strict=True):
        side = world.MAIN_SIDE[scene.big]
        patch = image[box[1] : box[1] + side, box[0] : box[0] + side].astype(int)
        inside = drawing.stencil(scene.main_shape, side)[..., 0] == 16
        assert abs(patch[inside].mean(axis=0) - drawing.PAINT[scene.main_colour]).max() <= 13


@pytest.mark.parametrize("side", world.MAIN_SIDE + world.OTHER_SIDE)
def test_shapes_are_distinct_at_every_size(side):
    masks = [drawing.stencil(shape, side)[..., 0] / 16 for shape in range(10)]
    for i, mask in enumerate(masks):
        assert 0.15 * side * side < mask.sum() < 0.8 * side * side
        for other in masks[:i]:
            assert abs(mask - other).sum() > 0.1 * side * side


def test_generation_takes_no_generator_methods():
    """NEP 19 freezes RandomState's stream and promises nothing for Generator's."""
    assert isinstance(world.stream(0), np.random.RandomState)
    assert world.stream(7, 1).randint(0, 2**31, size=3, dtype=np.int64).tolist() == [1986847929, 364536972, 1405532956]


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
def test_mismatched_share_is_as_stated_and_only_in_training(share):
    train, true = (generate(2, "train", 200, mismatched) for mismatched in (share, 0.0))
    assert (~train["matched"]).sum() == round(200 * share)
    assert generate(2, "validation", 50, share)["matched"].all()
    assert generate(2, "test", 50, share)["matched"].all()
    for name in ("captions", "paraphrases"):
        assert [a == b for a, b in zip(train[name], true[name], strict=True)] == train["matched"].tolist()
    assert (train["images"] == true["images"]).all()
    assert (train["both"] == true["both"]).all()
    wrong = np.flatnonzero(~train["matched"])
    assert sorted(train["captions"][i] for i in wrong) == sorted(true["captions"][i] for i in wrong)
    for i in wrong:  # caption and paraphrases come from the same other image
        assert true["captions"].index(train["captions"][i]) == true["paraphrases"].index(train["paraphrases"][i])


def test_a_single_mismatched_pair_gets_a_partner():
    assert (~generate(2, "train", 20, 0.05)["matched"]).sum() == 2
