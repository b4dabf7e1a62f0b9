"""What `clips` promises: the same bytes everywhere, things that move as is said, long tails, honest labels."""

import re

import pytest

from benchsuite.data.synthetic import clip_world as world
from benchsuite.data.synthetic import scene_grammar
from benchsuite.data.synthetic.clips import Clips
from benchsuite.data.synthetic.scene_world import COLOURS, GROUNDS, PATTERNS, SHAPES

DEFAULT = "2c2f8c0447ea15f91957b1c893ffcb45c3381c5b187e8c738cbff5067ef456a3"
MEANING = {
    word: name
    for lexicon in (scene_grammar.HUES, scene_grammar.NOUNS, scene_grammar.SOILS, scene_grammar.WEAVES)
    for name, words in lexicon.items()
    for word in words
}


def generate(seed, split, count):
    return Clips(seed=seed, **{split: count}).columns(split)


@pytest.mark.slow
def test_digest_of_the_default_world_is_pinned():
    assert Clips().manifest().digest == DEFAULT


def test_a_short_split_is_the_beginning_of_a_long_one():
    short, long = generate(5, "test", 7), generate(5, "test", 150)
    assert (short["images"] == long["images"][:7]).all()
    assert short["captions"] == long["captions"][:7]
    assert (short["nouns"] == long["nouns"][:7]).all()


def test_labels_are_those_of_the_moved_object():
    columns, facts = generate(0, "train", 40), world.imagine(0, 0, 40).facts
    assert (columns["verb"] == facts[:, 0]).all()
    assert (columns["noun"] == facts[:, 1]).all()
    assert (columns["verb_noun"] == facts[:, 0] * world.NOUNS + facts[:, 1]).all()
    assert (columns["nouns"] == facts[:, 1:3]).all()
    assert (columns["nouns"][:, 0] != columns["nouns"][:, 1]).all()
    assert 0.2 < (columns["nouns"][:, 1] == world.NO_OTHER).mean() < 0.8


def test_no_two_verbs_move_an_object_alike():
    pose = [1] * 8
    assert len({tuple(world.path(verb, pose)) for verb in range(len(world.VERBS))}) == len(world.VERBS)


def read(text):
    """(verb, [nouns], ground or None, pattern or None) by name."""
    text, _, soil = text.partition(" on ")
    text, *beside = re.split(r" (?:near|beside|by) ", text)
    fits = [
        (verb, found[1])
        for verb, forms in world.DOING.items()
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
        nouns = [world.CLASS_NAMES["noun"][noun] for noun in (clip.noun, clip.other) if noun != world.NO_OTHER]
        here = [PATTERNS[clip.pattern], GROUNDS[clip.ground]]
        assert len(captions) == len(paraphrases) == 5
        for text in captions + paraphrases:
            verb, said, ground = read(text)
            assert (verb, said) == (world.VERBS[clip.verb], nouns), text
            assert ground in ([], here[1:], here), text


def test_class_names_are_in_the_order_of_the_labels():
    names = world.CLASS_NAMES
    assert [len(names[key]) for key in Clips.labels[:3]] == [12, 40, 480]
    assert names["noun"][13] == f"{COLOURS[1]} {SHAPES[3]}"
    assert names["verb"][9] == "put down"
    assert names["verb_noun"][9 * 40 + 13] == f"put down {COLOURS[1]} {SHAPES[3]}"
    assert names["verb_noun"][0] == "move red circle left"
