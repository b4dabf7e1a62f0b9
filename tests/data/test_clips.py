"""What `clips` promises: the same bytes everywhere, things that move as is said, long tails, honest labels."""

import re

import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.data.synthetic import clip_drawing as drawing
from benchsuite.data.synthetic import clip_grammar as grammar
from benchsuite.data.synthetic import clip_world as world
from benchsuite.data.synthetic import scene_grammar
from benchsuite.data.synthetic.base import digest, digest_of
from benchsuite.data.synthetic.clips import Clips, generate
from benchsuite.data.synthetic.scene_drawing import PAINT
from benchsuite.data.synthetic.scene_world import COLOURS, GROUNDS, PATTERNS, SHAPES

SIZES = {"train": 40, "validation": 6, "test": 6}
SMALL = "9f815d78b335e03fa14fc67ea122e031d77753e28dda74c9516057db5f9efd7f"
DEFAULT = "2c2f8c0447ea15f91957b1c893ffcb45c3381c5b187e8c738cbff5067ef456a3"
MEANING = {
    word: name
    for lexicon in (scene_grammar.HUES, scene_grammar.NOUNS, scene_grammar.SOILS, scene_grammar.WEAVES)
    for name, words in lexicon.items()
    for word in words
}


def digest_of_sizes(seed, sizes=SIZES):
    return digest_of({split: digest(generate(seed, split, count)) for split, count in sizes.items()})


def test_digest_of_a_small_world_is_pinned():
    assert digest_of_sizes(0) == SMALL


def test_digest_of_the_default_world_is_pinned():
    assert Clips().manifest().digest == DEFAULT


def test_same_seed_same_bytes_and_other_seed_other_bytes():
    assert digest_of_sizes(3) == digest_of_sizes(3)
    assert len({digest_of_sizes(seed) for seed in (3, 4, 3 + 2**32)}) == 3


def test_a_short_split_is_the_beginning_of_a_long_one():
    short, long = generate(5, "test", 7), generate(5, "test", 150)
    assert (short["images"] == long["images"][:7]).all()
    assert short["captions"] == long["captions"][:7]
    assert (short["nouns"] == long["nouns"][:7]).all()


def test_splits_show_different_clips():
    seen = [{clip.tobytes() for clip in generate(0, split, count)["images"]} for split, count in SIZES.items()]
    assert sum(map(len, seen)) == len(set.union(*seen)) == sum(SIZES.values())


@pytest.mark.parametrize(
    ("column", "count", "shift"), [(0, len(world.VERBS), world.VERB_SHIFT), (1, world.NOUNS, world.NOUN_SHIFT)]
)
def test_verbs_and_nouns_follow_zipf(column, count, shift):
    ranks = np.argsort(world.classes_by_rank(0)[column])[world.imagine(0, 0, 40_000).facts[:, column]]
    weights = world.zipf_weights(count, shift) / world.zipf_weights(count, shift).sum()
    seen = np.bincount(ranks, minlength=count) / 40_000
    assert (abs(seen - weights) < 4 * np.sqrt(weights * (1 - weights) / 40_000)).all()
    assert weights[0] > 6 * weights[-1]


def test_pairs_of_verb_and_noun_have_a_long_tail():
    sizes = np.bincount(generate(0, "train", 3000)["verb_noun"], minlength=world.VERB_NOUNS)
    ordered = np.sort(sizes)[::-1]
    assert ordered[:48].sum() > 3000 / 3
    assert (sizes <= 2).sum() > world.VERB_NOUNS / 5


def test_labels_are_those_of_the_moved_object():
    columns, facts = generate(0, "train", 40), world.imagine(0, 0, 40).facts
    assert (columns["verb"] == facts[:, 0]).all()
    assert (columns["noun"] == facts[:, 1]).all()
    assert (columns["verb_noun"] == facts[:, 0] * world.NOUNS + facts[:, 1]).all()
    assert (columns["nouns"] == facts[:, 1:3]).all()
    assert (columns["nouns"][:, 0] != columns["nouns"][:, 1]).all()
    assert 0.2 < (columns["nouns"][:, 1] == world.NO_OTHER).mean() < 0.8


@pytest.fixture(scope="module")
def clips():
    return world.imagine(7, 0, 300)


def seen_at(clips, i):
    """Centre and size of the moved object as painted, frame by frame; None where it cannot be seen."""
    clip = clips.slice(i, i + 1)
    colour = np.array(PAINT)[clip.facts[0, 1] // 10] + (clip.tint[0, :3] % 25 - 12)
    for frame in drawing.paint(clip, _Quiet())[0].astype(int):
        rows, columns = np.nonzero((abs(frame - np.clip(colour, 0, 255)) <= 1).all(-1))
        yield (columns.mean(), rows.mean(), len(rows)) if len(rows) else None


class _Quiet:
    """Grain of one value."""

    def bytes(self, count):
        return b"\x06" * count


def places(verb, clips):
    alone = (clips.facts[:, 0] == world.VERBS.index(verb)) & (clips.facts[:, 2] == world.NO_OTHER)
    chosen = np.flatnonzero(alone)[:4].tolist()
    assert chosen
    return [list(seen_at(clips, i)) for i in chosen]


@pytest.mark.parametrize(
    ("verb", "axis", "sign"),
    [
        ("move-left", 0, -1),
        ("move-right", 0, 1),
        ("raise", 1, -1),
        ("lower", 1, 1),
        ("enlarge", 2, 1),
        ("shrink", 2, -1),
    ],
)
def test_what_is_said_to_move_or_grow_does(verb, axis, sign, clips):
    for found in places(verb, clips):
        values = np.array([place[axis] for place in found]) * sign
        assert (np.diff(values) >= 0).all()
        assert values[-1] - values[0] > 8
        if axis < 2:
            assert np.ptp([place[1 - axis] for place in found]) < 0.01


def test_what_comes_goes_or_blinks_does(clips):
    for verb, patterns in (("put", "0" * 5 + "1" * 5), ("take", "1" * 5 + "0" * 5), ("blink", "0011" * 3)):
        for found in places(verb, clips):
            seen = "".join("0" if place is None else "1" for place in found)
            assert seen in patterns, verb
            assert 2 < seen.count("1") < 6


def test_what_is_shaken_bounced_or_whirled_goes_to_and_fro(clips):
    for verb, width, height in (("shake", 8, 0), ("bounce", 0, 16), ("whirl", 18, 18)):
        for found in places(verb, clips):
            x, y, _ = np.array(found).T
            assert (round(np.ptp(x)), round(np.ptp(y))) == (width, height)


def test_no_two_verbs_move_an_object_alike():
    pose = [1] * 8
    assert len({tuple(world.path(verb, pose)) for verb in range(len(world.VERBS))}) == len(world.VERBS)


def test_objects_stay_inside_and_the_second_one_is_never_hidden_throughout():
    clips = world.imagine(1, 0, 1500)
    for clip, pose in zip(clips, clips.pose.tolist(), strict=True):
        aside, boxes = world.corner(pose), [box for box in world.path(clip.verb, pose) if box]
        for box in [aside, *boxes]:
            assert min(box.left, box.top) >= 0
            assert max(box.left, box.top) + box.side <= world.SIDE
        covered = [
            max(0, min(box.left + box.side, aside.left + 9) - max(box.left, aside.left))
            * max(0, min(box.top + box.side, aside.top + 9) - max(box.top, aside.top))
            for box in boxes
        ]
        assert min(covered) <= 40


def read(text):
    """(verb, [nouns], ground or None, pattern or None) by name."""
    text, _, soil = text.partition(" on ")
    text, *beside = re.split(r" (?:near|beside|by) ", text)
    fits = [
        (verb, found[1])
        for verb, forms in grammar.DOING.items()
        for form in forms
        if (found := re.fullmatch(form.replace("{}", r"((?:the )?\w+ \w+)"), text))
    ]
    assert len({verb for verb, _ in fits}) == 1, text
    nouns = [" ".join(MEANING[word] for word in noun.removeprefix("the ").split()) for noun in (fits[0][1], *beside)]
    told = [MEANING[word] for word in soil.split()]
    return fits[0][0], nouns, told


def test_every_narration_is_true_and_names_verb_and_nouns():
    clips, columns = list(world.imagine(11, 2, 400)), generate(11, "test", 400)
    for clip, captions, paraphrases in zip(clips, columns["captions"], columns["paraphrases"], strict=True):
        nouns = [grammar.CLASS_NAMES["noun"][noun] for noun in (clip.noun, clip.other) if noun != world.NO_OTHER]
        here = [PATTERNS[clip.pattern], GROUNDS[clip.ground]]
        assert len(captions) == len(paraphrases) == 5
        for text in captions + paraphrases:
            verb, said, ground = read(text)
            assert (verb, said) == (world.VERBS[clip.verb], nouns), text
            assert ground in ([], here[1:], here), text


def test_narrations_vary_and_paraphrases_are_others():
    columns = generate(0, "train", 40)
    assert np.mean([len(set(texts)) for texts in columns["captions"]]) > 3
    assert columns["captions"] != columns["paraphrases"]


def test_class_names_are_in_the_order_of_the_labels():
    names = grammar.CLASS_NAMES
    assert [len(names[key]) for key in Clips.labels[:3]] == [12, 40, 480]
    assert names["noun"][13] == f"{COLOURS[1]} {SHAPES[3]}"
    assert names["verb"][9] == "put down"
    assert names["verb_noun"][9 * 40 + 13] == f"put down {COLOURS[1]} {SHAPES[3]}"
    assert names["verb_noun"][0] == "move red circle left"


def test_the_registered_dataset_has_labels_for_clusters_and_for_relevancy():
    data = create_dataset("clips", train=30, validation=4, test=5)
    assert dict(data.manifest().splits) == {"train": 30, "validation": 4, "test": 5}
    split = data.split("test")
    assert {name: ids.shape for name, ids in split.labels.items()} == {
        "verb": (5,), "noun": (5,), "verb_noun": (5,), "nouns": (5, 2)
    }  # fmt: skip
    assert split.images.shape == (5, 8, 32, 32, 3)
