"""Captions of scenes: a small grammar with synonyms, templates and omissions.

Every caption is true of its scene and few are complete: attributes are often omitted, so that a caption fits many
images. Each word has one meaning only, so that a test can parse a caption.
"""

from benchsuite.data.synthetic.scene_world import COLOURS, GROUNDS, PATTERNS, RELATIONS, SHAPES, Scene

NOUNS: dict[str, tuple[str, ...]] = {
    "circle": ("circle", "disc"),
    "square": ("square", "box"),
    "triangle": ("triangle", "wedge"),
    "diamond": ("diamond", "rhombus"),
    "cross": ("cross", "plus"),
    "ring": ("ring", "hoop"),
    "star": ("star", "pentagram"),
    "heart": ("heart", "valentine"),
    "moon": ("moon", "crescent"),
    "arrow": ("arrow", "pointer"),
}
HUES: dict[str, tuple[str, ...]] = {
    "red": ("red", "crimson"),
    "green": ("green", "emerald"),
    "blue": ("blue", "azure"),
    "yellow": ("yellow", "golden"),
    "orange": ("orange", "tangerine"),
    "purple": ("purple", "violet"),
    "pink": ("pink", "rosy"),
    "brown": ("brown", "chestnut"),
    "white": ("white", "ivory"),
    "black": ("black", "jet"),
}
PLACES: dict[str, tuple[str, ...]] = {
    "left": ("left of", "to the left of"),
    "right": ("right of", "to the right of"),
    "above": ("above", "over"),
    "below": ("below", "under"),
}
SOILS: dict[str, tuple[str, ...]] = {
    "grass": ("grass", "turf"),
    "sand": ("sand", "gravel"),
    "water": ("water", "ocean"),
    "stone": ("stone", "slate"),
    "velvet": ("velvet", "silk"),
    "clay": ("clay", "brick"),
}
WEAVES: dict[str, tuple[str, ...]] = {
    "plain": ("plain", "bare"),
    "striped": ("striped", "lined"),
    "dotted": ("dotted", "spotted"),
    "checked": ("checked", "chequered"),
}
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
TEMPLATES: dict[str, list[str]] = {
    "scenes-7": [
        "the {}",
        "one {}",
        "a picture of the {}",
        "there is one {}",
        "this is the {}",
        "a picture of one {} on grass",
        "the {} on sand",
    ],
    "scenes-colour-7": [
        "the {} thing",
        "one {} object",
        "a picture of the {} thing",
        "there is one {} thing",
        "this is the {} object",
        "a picture of one {} thing on grass",
        "the {} object on sand",
    ],
}
"""Prompt sets by name. None needs "a" or "an" before the class; `scenes-colour-7` is the one for adjectives."""


class _Choices:
    """A row of raw draws, used up from the left: the wording is a function of the row and the scene alone."""

    def __init__(self, row: list[int]) -> None:
        self.row = iter(row)

    def of(self, options: tuple[str, ...]) -> str:
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
