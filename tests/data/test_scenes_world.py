"""What the pictures of `scenes` promise: the same bytes everywhere, distinct shapes, Zipf's law, honest labels."""

import numpy as np
import pytest
from benchsuite.data.scenes import dataset, drawing, world

SIZES = {"train": 60, "validation": 12, "test": 12}
SMALL = "99d34869071408fdb1502f1d56f7ce630ab8e94c2ad7a982f8b88f6d749f4948"
DEFAULT = "fe7c663c9146b23a34e2324fa53d64433bcf3cda3ceec861e0b5897072ffc354"


def digest(seed, sizes=SIZES, mismatched=dataset.MISMATCHED):
    return dataset.describe(dataset.generate(seed, sizes, mismatched), seed, mismatched)["digest"]


def test_digest_of_a_small_world_is_pinned():
    assert digest(0) == SMALL


def test_digest_of_the_default_world_is_pinned():
    assert digest(dataset.SEED, dataset.SPLITS) == DEFAULT


def test_same_seed_same_bytes_and_other_seed_other_bytes():
    assert digest(3) == digest(3)
    assert digest(3) != digest(4)


def test_seeds_beyond_32_bits_differ():
    assert digest(1) != digest(1 + 2**32)


def test_a_short_split_is_the_beginning_of_a_long_one():
    short, long = (dataset.generate(5, {"test": count})["test"] for count in (7, 1500))
    assert (short.images == long.images[:7]).all()
    assert short.captions == long.captions[:7]
    assert (short.pair_rank == long.pair_rank[:7]).all()


def test_one_split_does_not_depend_on_the_others():
    alone = dataset.generate(5, {"test": 9})["test"]
    together = dataset.generate(5, {"train": 33, "validation": 2, "test": 9})["test"]
    assert alone.digest() == together.digest()


def test_splits_show_different_pictures():
    splits = dataset.generate(0, SIZES)
    seen = [{picture.tobytes() for picture in split.images} for split in splits.values()]
    assert sum(map(len, seen)) == len(set.union(*seen)) == sum(SIZES.values())


def test_ranks_follow_zipf():
    rank = world.imagine(0, 0, 40_000).pair_rank
    weights = world.zipf_weights() / world.zipf_weights().sum()
    for start, stop in ((0, 1), (0, 10), (10, 100), (100, 1000), (1000, world.PAIRS)):
        share = weights[start:stop].sum()
        spread = 4 * np.sqrt(share * (1 - share) / len(rank))
        assert abs(((rank >= start) & (rank < stop)).mean() - share) < spread


def test_head_is_heavier_than_tail():
    split = dataset.generate(0, {"train": 4000})["train"]
    assert split.tail.mean() == pytest.approx(0.5, abs=0.03)
    head, tail = (len(np.unique(split.pair_rank[mask])) for mask in (~split.tail, split.tail))
    assert 4 * head < tail
    assert np.bincount(split.pair_rank).argmax() < 3


def test_every_pair_has_one_rank_and_classes_stay_near_balance():
    pairs = world.pairs_by_rank(0)
    assert sorted(pairs) == list(range(world.PAIRS))
    for block in pairs.reshape(-1, world.KINDS):
        assert len(set(block // world.KINDS)) == len(set(block % world.KINDS)) == world.KINDS
    kinds = np.bincount(dataset.generate(0, {"train": 12_000})["train"].labels["both"], minlength=100)
    assert kinds.min() > 40
    assert kinds.max() < 400


def test_labels_are_the_main_objects():
    split = dataset.generate(0, SIZES)["test"]
    scenes = list(world.imagine(0, 2, 12))
    assert [scene.main_shape for scene in scenes] == split.labels["shape"].tolist()
    assert [scene.main_colour for scene in scenes] == split.labels["colour"].tolist()
    assert (split.labels["both"] == split.labels["colour"] * 10 + split.labels["shape"]).all()


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
    pictures = drawing.paint(scenes, world.stream(0))
    assert min(world.MAIN_SIDE) > max(world.OTHER_SIDE)
    for scene, box, picture in zip(scenes, scenes.main_box, pictures, strict=True):
        side = world.MAIN_SIDE[scene.big]
        patch = picture[box[1] : box[1] + side, box[0] : box[0] + side].astype(int)
        inside = drawing.stencil(scene.main_shape, side)[..., 0] == 16
        assert abs(patch[inside].mean(axis=0) - drawing.PAINT[scene.main_colour]).max() <= 13


@pytest.mark.parametrize("side", world.MAIN_SIDE + world.OTHER_SIDE)
def test_shapes_are_distinct_at_every_size(side):
    masks = [drawing.stencil(shape, side)[..., 0] / 16 for shape in range(10)]
    for i, one in enumerate(masks):
        assert 0.15 * side * side < one.sum() < 0.8 * side * side
        for two in masks[:i]:
            assert abs(one - two).sum() > 0.1 * side * side


def test_generation_takes_no_generator_methods():
    """NEP 19 freezes RandomState's stream and promises nothing for Generator's."""
    assert isinstance(world.stream(0), np.random.RandomState)
    assert world.stream(7, 1).randint(0, 2**31, size=3, dtype=np.int64).tolist() == [1986847929, 364536972, 1405532956]
