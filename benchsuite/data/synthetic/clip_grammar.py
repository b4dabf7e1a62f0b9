"""Narrations of clips in the manner of EPIC-KITCHENS: "raise red circle".

Verb and nouns are always named, each by one of several synonyms, because relevancy depends on them; articles and the
ground are often omitted. Each word has one meaning only, so that a test can parse a narration.
"""

from collections.abc import Iterable

from benchsuite.data.synthetic import scene_grammar as words
from benchsuite.data.synthetic.clip_world import HUED, NO_OTHER, VERBS, Clip
from benchsuite.data.synthetic.scene_world import GROUNDS, PATTERNS, SHAPES, Ints, stream

DOING: dict[str, tuple[str, ...]] = {
    "move-left": ("move {} left", "slide {} left", "push {} left"),
    "move-right": ("move {} right", "slide {} right", "push {} right"),
    "raise": ("raise {}", "lift {}"),
    "lower": ("lower {}", "drop {}"),
    "enlarge": ("enlarge {}", "grow {}"),
    "shrink": ("shrink {}", "reduce {}"),
    "blink": ("blink {}", "flash {}"),
    "shake": ("shake {}", "rattle {}"),
    "bounce": ("bounce {}", "toss {}"),
    "put": ("put down {}", "add {}"),
    "take": ("take {}", "remove {}"),
    "whirl": ("whirl {}", "swing {}"),
}
BESIDE = ("near", "beside", "by")
ARTICLES = ("", "", "the ")
SILENCE = {"ground": 70, "pattern": 50}
"""Percent of narrations that omit it."""

_DRAWS = 16

CLASS_NAMES: dict[str, list[str]] = {
    "verb": [DOING[verb][0].replace(" {}", "") for verb in VERBS],
    "noun": [f"{colour} {shape}" for colour in HUED for shape in SHAPES],
    "verb_noun": [DOING[verb][0].format(f"{colour} {shape}") for verb in VERBS for colour in HUED for shape in SHAPES],
}


def narrations(clips: Iterable[Clip], count: int, each: int, seed: int, split: int, purpose: int) -> list[list[str]]:
    """`each` independent narrations of every clip; `purpose` separates captions from paraphrases."""
    raw: Ints = stream(seed, 12, split, purpose).randint(0, 2**31, size=(count, each, _DRAWS), dtype="int64")
    return [[narration(clip, row) for row in rows] for clip, rows in zip(clips, raw.tolist(), strict=True)]


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


def _of(options: tuple[str, ...], draw: int) -> str:
    return options[draw % len(options)]
