"""Captions are parsed word by word and compared with the scene that they describe."""

import re

import pytest

from benchsuite.data.synthetic import scene_grammar as grammar
from benchsuite.data.synthetic import scene_world as world
from benchsuite.data.synthetic.scenes import Scenes
from benchsuite.data.synthetic.scenes_sts import MEANING, read


def is_true(text, scene):
    """Whether each fact of the caption is one of the scene's."""
    main = {("colour", world.COLOURS[scene.main_colour]), ("shape", world.SHAPES[scene.main_shape])}
    other = {("colour", world.COLOURS[scene.other_colour]), ("shape", world.SHAPES[scene.other_shape])}
    main |= {("size", "big")} if scene.big else set()
    other |= {("size", "small")} if scene.small else set()
    ground = {("ground", world.GROUNDS[scene.ground]), ("pattern", world.PATTERNS[scene.pattern])}
    relation = world.RELATIONS[scene.relation]
    statement = read(text)
    if not statement.ground <= ground:
        return False
    if len(statement.objects) == 1:
        return statement.objects[0] <= main
    orders = (((main, other), relation), ((other, main), grammar.INVERSE[relation]))
    return any(
        all(facts <= true for facts, true in zip(statement.objects, objects, strict=True))
        and statement.relation in (None, name)
        for objects, name in orders
    )


@pytest.fixture(scope="module")
def world_of_tests():
    scenes = list(world.imagine(11, 2, 600))
    return scenes, Scenes(seed=11, test=600).columns("test")


def test_every_caption_is_parsed_word_for_word_and_is_true_of_its_image(world_of_tests):
    scenes, split = world_of_tests
    for scene, captions, paraphrases in zip(scenes, split["captions"], split["paraphrases"], strict=True):
        for text in captions + paraphrases:
            assert is_true(text, scene), (text, scene)
            statement = read(text)
            words = [word for word in text.removeprefix("a picture of ").split() if MEANING.get(word)]
            assert len(words) == sum(map(len, statement.objects)) + len(statement.ground), text


def test_no_word_has_two_meanings():
    words = [
        word
        for lexicon in (grammar.HUES, grammar.NOUNS, grammar.SOILS, grammar.WEAVES)
        for synonyms in lexicon.values()
        for word in synonyms
    ]
    words += [*grammar.BIG, *grammar.SMALL, *grammar.ANY]
    assert len(words) == len(set(words))


def test_class_names_are_in_the_order_of_the_labels():
    names = grammar.CLASS_NAMES
    assert names["both"][3 * 10 + 7] == f"{names['colour'][3]} {names['shape'][7]}"
    assert [len(names[key]) for key in Scenes.labels] == [10, 10, 100]


@pytest.mark.parametrize("name", grammar.TEMPLATES)
def test_prompts_use_the_words_of_the_captions(name):
    captions = Scenes(seed=0, train=500).columns("train")["captions"]
    known = {word for texts in captions for text in texts for word in text.split()}
    for template in grammar.TEMPLATES[name]:
        assert template.count("{}") == 1
        assert not re.search(r"\ban? \{\}", template), "a class may begin with a vowel"
        assert set(template.replace("{}", "red").split()) <= known
