"""Captions of scenes: a small grammar with synonyms, templates and omissions.

Every caption is true of its scene and few are complete: attributes are often omitted, so that a caption fits many
images. Each word has one meaning only, so that a test can parse a caption.
"""

import tomllib
from collections.abc import Mapping, Sequence

from benchsuite.data.synthetic.scene_world import COLOURS, GROUNDS, PATTERNS, RELATIONS, SHAPES, Scene
from benchsuite.files import packaged

WORDS: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(packaged("data/synthetic/words.toml"))
"""The synonyms of each value, by kind; and prompt sets by name."""
NOUNS, HUES, PLACES = WORDS["shapes"], WORDS["colours"], WORDS["relations"]
SOILS, WEAVES, TEMPLATES = WORDS["grounds"], WORDS["patterns"], WORDS["templates"]
BIG, SMALL, ANY = ("big", "large", "huge"), ("small", "little", "tiny"), ("thing", "object")
LEADS = ("", "", "", "a picture of ", "there is ", "this is ")
INVERSE = {"left": "right", "right": "left", "above": "below", "below": "above"}

SILENCE = {"size": 60, "colour": 15, "shape": 8, "relation": 35, "other": 12, "ground": 35, "pattern": 40}
"""Percent of wordings in which an attribute is left out, where the template speaks of it at all."""

DRAWS = 32
"""That a wording may take."""

CLASS_NAMES: dict[str, list[str]] = {
    "shape": list(SHAPES),
    "colour": list(COLOURS),
    "both": [f"{colour} {shape}" for colour in COLOURS for shape in SHAPES],
}


class _Choices:
    """A row of raw draws, used up from the left: the wording is a function of the row and the scene alone."""

    def __init__(self, row: list[int]) -> None:
        self.row = iter(row)

    def of(self, options: Sequence[str]) -> str:
        return options[next(self.row) % len(options)]

    def silent(self, attribute: str) -> bool:
        return next(self.row) % 100 < SILENCE[attribute]


def wording(scene: Scene, row: list[int]) -> str:
    """One true sentence about the scene, chosen by a row of non-negative draws."""
    choose = _Choices(row)
    lead = choose.of(LEADS)
    big = choose.of(BIG) if scene.big and not choose.silent("size") else ""
    small = choose.of(SMALL) if scene.small and not choose.silent("size") else ""
    main = _phrase(choose, big, COLOURS[scene.main_colour], SHAPES[scene.main_shape])
    other = _phrase(choose, small, COLOURS[scene.other_colour], SHAPES[scene.other_shape])
    ground = _ground(choose, GROUNDS[scene.ground], PATTERNS[scene.pattern])
    if choose.silent("other"):
        return lead + main + ground
    turned = next(choose.row) % 2 == 1
    first, second = (other, main) if turned else (main, other)
    if choose.silent("relation"):
        return lead + first + choose.of((" and ", " with ")) + second + ground
    relation = RELATIONS[scene.relation]
    return f"{lead}{first} {choose.of(PLACES[INVERSE[relation] if turned else relation])} {second}{ground}"


def _phrase(choose: _Choices, size: str, colour: str, shape: str) -> str:
    """A noun phrase. Of colour and shape at most one is omitted."""
    hue, noun = choose.of(HUES[colour]), choose.of(NOUNS[shape])
    if choose.silent("shape"):
        noun = choose.of(ANY)
    elif choose.silent("colour"):
        hue = ""
    words = [word for word in (size, hue, noun) if word]
    article = "an" if words[0][0] in "aeiou" else "a"
    return " ".join([choose.of((article, article, "the", "one")), *words])


def _ground(choose: _Choices, soil: str, weave: str) -> str:
    if choose.silent("ground"):
        return ""
    noun, adjective = choose.of(SOILS[soil]), choose.of(WEAVES[weave])
    return f" on {noun}" if choose.silent("pattern") else f" on {adjective} {noun}"
