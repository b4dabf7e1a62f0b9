"""Wordings are read back word by word and held against the scene they were made of."""

import re

import numpy as np
import pytest
from benchsuite.data.scenes import dataset, grammar, world

MEANING = {
    word: (attribute, name)
    for attribute, lexicon in {
        "colour": grammar.HUES,
        "shape": grammar.NOUNS,
        "ground": grammar.SOILS,
    }.items()
    for name, words in lexicon.items()
    for word in words
}
MEANING |= {word: ("pattern", name) for name, words in grammar.WEAVES.items() for word in words}
MEANING |= {word: ("size", name) for name in ("BIG", "SMALL") for word in getattr(grammar, name)}
MEANING |= dict.fromkeys(grammar.ANY, ("shape", None))
RELATION = {phrase: name for name, phrases in grammar.PLACES.items() for phrase in phrases}
BETWEEN = sorted([*RELATION, "and", "with"], key=len, reverse=True)


def read(text):
    """(first object, second object or None, relation or None, ground) as dictionaries of names."""
    text = re.sub(r"^(a picture of|there is|this is) ", "", text)
    text, _, ground = text.partition(" on ")
    parts = re.split(rf" ({'|'.join(BETWEEN)}) ", text)
    objects = [dict(MEANING[word] for word in part.split()[1:]) for part in parts[::2]]
    relation = RELATION.get(parts[1]) if len(parts) > 1 else None
    soil = dict(MEANING[word] for word in ground.split())
    return objects, relation, soil


def fits(told, colour, shape, size):
    true = {"colour": world.COLOURS[colour], "shape": world.SHAPES[shape], "size": size}
    return all(true[key] == value for key, value in told.items() if value is not None)


def is_true(text, scene):
    objects, relation, soil = read(text)
    main = (scene.main_colour, scene.main_shape, "BIG" if scene.big else None)
    other = (scene.other_colour, scene.other_shape, "SMALL" if scene.small else None)
    here = {"ground": world.GROUNDS[scene.ground], "pattern": world.PATTERNS[scene.pattern]}
    if any(here[key] != value for key, value in soil.items()):
        return False
    if len(objects) == 1:
        return fits(objects[0], *main)
    as_seen = world.RELATIONS[scene.relation]
    for pair, name in (((main, other), as_seen), ((other, main), grammar.INVERSE[as_seen])):
        if all(fits(told, *real) for told, real in zip(objects, pair, strict=True)) and relation in (
            None,
            name,
        ):
            return True
    return False


@pytest.fixture(scope="module")
def world_of_tests():
    scenes = list(world.imagine(11, 2, 600))
    return scenes, dataset.generate(11, {"test": 600})["test"]


def test_every_wording_is_true_of_its_picture(world_of_tests):
    scenes, split = world_of_tests
    for scene, captions, paraphrases in zip(scenes, split.captions, split.paraphrases, strict=True):
        for text in captions + paraphrases:
            assert is_true(text, scene), (text, scene)


def test_five_captions_and_five_paraphrases_each(world_of_tests):
    split = world_of_tests[1]
    assert {len(texts) for texts in split.captions + split.paraphrases} == {5}
    assert split.captions != split.paraphrases


def test_wordings_vary_within_a_picture(world_of_tests):
    assert np.mean([len(set(texts)) for texts in world_of_tests[1].captions]) > 4.8


def test_captions_fit_other_pictures_too(world_of_tests):
    """False negatives are real: a good share of captions is true of more than its own picture."""
    scenes, split = world_of_tests
    others = [sum(is_true(texts[0], scene) for scene in scenes) - 1 for texts in split.captions[:100]]
    assert min(others) == 0
    assert np.mean([count > 0 for count in others]) > 0.15


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
    assert [len(names[key]) for key in dataset.LABELS] == [10, 10, 100]


@pytest.mark.parametrize("name", grammar.TEMPLATES)
def test_prompts_speak_the_words_of_the_captions(name):
    captions = dataset.generate(0, {"train": 500})["train"].captions
    known = {word for texts in captions for text in texts for word in text.split()}
    for template in grammar.TEMPLATES[name]:
        assert template.count("{}") == 1
        assert not re.search(r"\ban? \{\}", template), "a class may begin with a vowel"
        assert set(template.replace("{}", "red").split()) <= known
