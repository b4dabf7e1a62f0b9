"""The world of `clips`: which action on which object, where it is in each of eight frames, and what is said of it.

The rules of `scenes` hold: frozen streams, whole numbers, the same clips with every numpy. Narrations are in the manner
of EPIC-KITCHENS, "raise red circle". Verb and nouns are always named, each by one of several synonyms, because
relevancy depends on them; articles and the ground are often omitted. Each word has one meaning only, so that a test can
parse a narration.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchsuite.data.synthetic import scene_grammar as words
from benchsuite.data.synthetic.scene_world import (
    COLOURS,
    GROUNDS,
    PATTERNS,
    SHAPES,
    SIDE,
    Columns,
    Ints,
    ranks_of,
    stream,
    zipf_weights,
)

FRAMES = 8
DOING = words.WORDS["verbs"]
"""What a narration says of each verb."""
VERBS = tuple(DOING)
HUED = COLOURS[:4]
NOUNS = len(HUED) * len(SHAPES)
"""A noun class is a coloured shape: colour * 10 + shape."""
VERB_SHIFT, NOUN_SHIFT = 1, 3
NO_OTHER = -1

MAIN_SIDE, OTHER_SIDE = 12, 9
SIDES = range(6, 19)
"""Every size at which the main object is drawn."""


class Clip(NamedTuple):
    """What one clip shows, as class ids: all that a narration may mention."""

    verb: int
    noun: int
    other: int  # a second object, which stands still in a corner, or NO_OTHER
    ground: int
    pattern: int


@dataclass(frozen=True)
class Clips(Columns):
    """Many clips."""

    pose: Ints  # [N, 8], raw draws that place the objects
    tint: Ints  # [N, 10], small shifts of the three colours, and the pattern's phase

    def __iter__(self) -> Iterator[Clip]:
        return (Clip(*row) for row in self.facts.tolist())


def imagine(seed: int, split: int, count: int) -> Clips:
    """Draw `count` clips of a split. The first n of a longer draw are the draw of n.

    Verb and noun follow Zipf's law each, so their pairs have a long tail that many splits do not cover.
    """
    raw = stream(seed, 11, split).randint(0, 2**62, size=(count, 32), dtype=np.int64)
    draw = stream(seed, 10)
    verbs, nouns = (draw.permutation(n).astype(np.int64) for n in (len(VERBS), NOUNS))  # by frequency rank
    verb = verbs[ranks_of(raw[:, 0], zipf_weights(len(VERBS), VERB_SHIFT))]
    noun = nouns[ranks_of(raw[:, 1], zipf_weights(NOUNS, NOUN_SHIFT))]
    other = (noun + 1 + raw[:, 2] % (NOUNS - 1)) % NOUNS
    other = np.where(raw[:, 3] % 2 == 0, other, NO_OTHER)
    facts = np.stack([verb, noun, other, raw[:, 4] % len(GROUNDS), raw[:, 5] % len(PATTERNS)], axis=1)
    return Clips(facts, raw[:, 6:14], raw[:, 14:24])


class Box(NamedTuple):
    """Where an object is in one frame."""

    left: int
    top: int
    side: int


def corner(pose: list[int]) -> Box:
    """Of the second object, in all frames."""
    far = SIDE - OTHER_SIDE
    left, top = (raw % 3 if raw // 3 % 2 else far - raw % 3 for raw in pose[:2])
    return Box(left, top, OTHER_SIDE)


def path(verb: int, pose: list[int]) -> list[Box | None]:
    """The main object's box in each frame; None where it is not visible."""
    middle = (SIDE - MAIN_SIDE) // 2
    x, y = (middle + raw % 5 - 2 for raw in pose[2:4])
    start, end, phase = pose[4] % 4, SIDE - MAIN_SIDE - pose[5] % 4, pose[6]
    along = [start + (end - start) * t // (FRAMES - 1) for t in range(FRAMES)]
    match VERBS[verb]:
        case "move-left":
            return [Box(a, y, MAIN_SIDE) for a in reversed(along)]
        case "move-right":
            return [Box(a, y, MAIN_SIDE) for a in along]
        case "raise":
            return [Box(x, a, MAIN_SIDE) for a in reversed(along)]
        case "lower":
            return [Box(x, a, MAIN_SIDE) for a in along]
        case "enlarge":
            return _sized(x, y, [SIDES[0] + (SIDES[-1] - SIDES[0]) * t // (FRAMES - 1) for t in range(FRAMES)])
        case "shrink":
            return _sized(x, y, [SIDES[-1] - (SIDES[-1] - SIDES[0]) * t // (FRAMES - 1) for t in range(FRAMES)])
        case "blink":
            return [Box(x, y, MAIN_SIDE) if (t + phase) // 2 % 2 else None for t in range(FRAMES)]
        case "shake":
            return [Box(x + (4 if (t + phase) % 2 else -4), y, MAIN_SIDE) for t in range(FRAMES)]
        case "bounce":
            return [Box(x, SIDE - MAIN_SIDE - _BOUNCE[(t + phase) % 4], MAIN_SIDE) for t in range(FRAMES)]
        case "put":
            return [Box(x, y, MAIN_SIDE) if t >= 3 + phase % 3 else None for t in range(FRAMES)]
        case "take":
            return [Box(x, y, MAIN_SIDE) if t < 3 + phase % 3 else None for t in range(FRAMES)]
        case _:  # whirl
            turns = (_ROUND[(t + phase) % FRAMES] for t in range(FRAMES))
            return [Box(middle + dx, middle + dy, MAIN_SIDE) for dx, dy in turns]


def _sized(x: int, y: int, sides: list[int]) -> list[Box | None]:
    half = MAIN_SIDE // 2
    return [Box(x + half - side // 2, y + half - side // 2, side) for side in sides]


_BOUNCE = (0, 9, 16, 9)
_ROUND = ((9, 0), (6, 6), (0, 9), (-6, 6), (-9, 0), (-6, -6), (0, -9), (6, -6))
BESIDE = ("near", "beside", "by")
ARTICLES = ("", "", "the ")
SILENCE = {"ground": 70, "pattern": 50}
"""Percent of narrations that omit it."""

DRAWS = 16
"""That a narration may take."""

CLASS_NAMES: dict[str, list[str]] = {
    "verb": [DOING[verb][0].replace(" {}", "") for verb in VERBS],
    "noun": [f"{colour} {shape}" for colour in HUED for shape in SHAPES],
    "verb_noun": [DOING[verb][0].format(f"{colour} {shape}") for verb in VERBS for colour in HUED for shape in SHAPES],
}


def narration(clip: Clip, row: list[int]) -> str:
    """One true sentence about the clip, chosen by a row of non-negative draws."""
    text = _of(DOING[VERBS[clip.verb]], row[0]).format(_thing(clip.noun, row[1:4]))
    if clip.other != NO_OTHER:
        text += f" {_of(BESIDE, row[4])} {_thing(clip.other, row[5:8])}"
    if row[8] % 100 < SILENCE["ground"]:
        return text
    soil, weave = _of(words.SOILS[GROUNDS[clip.ground]], row[9]), _of(words.WEAVES[PATTERNS[clip.pattern]], row[10])
    return f"{text} on {soil}" if row[11] % 100 < SILENCE["pattern"] else f"{text} on {weave} {soil}"


def _thing(noun: int, row: list[int]) -> str:
    colour, shape = HUED[noun // len(SHAPES)], SHAPES[noun % len(SHAPES)]
    return f"{_of(ARTICLES, row[0])}{_of(words.HUES[colour], row[1])} {_of(words.NOUNS[shape], row[2])}"


def _of(options: Sequence[str], draw: int) -> str:
    return options[draw % len(options)]
