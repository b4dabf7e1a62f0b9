"""`scenes-sts`: pairs of captions of `scenes`, and the share of facts that they have in common."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge

from benchsuite.data.base import Manifest, SentencePairs, SimilarityDataset
from benchsuite.data.cached import Columns
from benchsuite.data.synthetic import scene_grammar as grammar
from benchsuite.data.synthetic import scene_world as world
from benchsuite.data.synthetic.base import digest, digest_of
from benchsuite.data.synthetic.scenes import WORDINGS, Scenes
from benchsuite.errors import require_known
from benchsuite.registry import register_dataset

VERSION = 1
IMAGES = Annotated[int, Ge(10)]


@register_dataset("scenes-sts", title="Caption similarity of scenes", license="Apache-2.0", download=False)
class ScenesSts(SimilarityDataset):
    """Pairs of captions of `scenes` with the share of facts they have in common; for the task sts, no download.

    Sets `validation` and `test` hold captions of these splits' images. Three subsets: `same`, two captions of one
    image; `near`, of two images that show one of the same objects; `any`, of two images at random. Gold is the
    number of facts both captions state over the number either states (0 to 1): colour, shape and size of each object,
    their relation, ground and pattern. Synonyms are one fact; so are "a left of b" and "b right of a".
    """

    seed: Annotated[int, Ge(0)] = 2024
    """Of the data, as of `scenes`."""
    validation: IMAGES = 1_000
    """Images of the validation set; each has a pair in every subset, unless no other shows its objects."""
    test: IMAGES = 1_000
    """Images of the test set."""

    def manifest(self) -> Manifest:
        digests = {name: digest(_columns(subsets)) for name, subsets in self._sets.items()}
        return Manifest("scenes-sts", VERSION, {}, digest_of(digests), self.options())

    def pairs(self, name: str) -> dict[str, SentencePairs]:
        require_known("similarity set", name, self._sets, "scenes-sts: ")
        return self._sets[name]

    @cached_property
    def _sets(self) -> dict[str, dict[str, SentencePairs]]:
        return {name: similarity_subsets(self.seed, name, getattr(self, name)) for name in ("validation", "test")}


def similarity_subsets(seed: int, split: str, count: int) -> dict[str, SentencePairs]:
    """The pairs of a split's first `count` images (i, j): the first caption of i with the second of j."""
    number = Scenes.splits.index(split)
    scenes = world.imagine(seed, number, count)
    texts = world.worded(scenes, grammar.wording, (count, WORDINGS, grammar.DRAWS), world.stream(seed, 2, number, 0))
    draw = world.stream(seed, 5, number)
    shown = np.stack([scenes.facts[:, 0] * 10 + scenes.facts[:, 1], scenes.facts[:, 2] * 10 + scenes.facts[:, 3]], 1)
    near = []
    for i, place in enumerate(draw.randint(0, 2**31, size=count, dtype=np.int64).tolist()):
        common = np.flatnonzero((shown[:, :, None] == shown[i]).any((1, 2)))
        if len(others := common[common != i]):
            near.append((i, int(others[place % len(others)])))
    away = (np.arange(count) + 1 + draw.randint(0, count - 1, size=count, dtype=np.int64)) % count
    return {
        "same": _pairs(texts, [(i, i) for i in range(count)]),
        "near": _pairs(texts, near),
        "any": _pairs(texts, list(enumerate(away.tolist()))),
    }


def _pairs(texts: Sequence[Sequence[str]], images: Sequence[tuple[int, int]]) -> SentencePairs:
    a, b = [texts[i][0] for i, _ in images], [texts[j][1] for _, j in images]
    return SentencePairs(a, b, np.array([alike(x, y) for x, y in zip(a, b, strict=True)]))


def _columns(subsets: dict[str, SentencePairs]) -> Columns:
    texts: Columns = {name: [list(pairs.a), list(pairs.b)] for name, pairs in subsets.items()}
    return {**texts, **{f"{name}.gold": pairs.gold for name, pairs in subsets.items()}}


Fact = tuple[str, str]
"""An attribute and its value, ("colour", "red")."""


class Statement(NamedTuple):
    """One caption's facts: of each object in the order in which it is named, and of the ground."""

    objects: tuple[frozenset[Fact], ...]  # one or two
    relation: str | None  # of the first object to the second
    ground: frozenset[Fact]


def _meanings() -> Mapping[str, Fact | None]:
    lexicons: dict[str, Mapping[str, Sequence[str]]] = {
        "colour": grammar.HUES,
        "shape": grammar.NOUNS,
        "ground": grammar.SOILS,
        "pattern": grammar.WEAVES,
        "size": {"big": grammar.BIG, "small": grammar.SMALL},
    }
    silent = dict.fromkeys((*grammar.ANY, "a", "an", "the", "one"))
    meanings = {
        word: (attribute, value)
        for attribute, lexicon in lexicons.items()
        for value, words in lexicon.items()
        for word in words
    }
    return {**meanings, **silent}


MEANING = _meanings()
RELATION = {phrase: name for name, phrases in grammar.PLACES.items() for phrase in phrases}
LEAD = re.compile("|".join(sorted({lead for lead in grammar.LEADS if lead}, key=len, reverse=True)))
BETWEEN = re.compile(f" ({'|'.join(sorted([*RELATION, 'and', 'with'], key=len, reverse=True))}) ")


@lru_cache(maxsize=2**14)
def read(text: str) -> Statement:
    """The facts of a caption. Synonyms state the same fact; "thing" and articles state none."""
    lead = LEAD.match(text)
    things, _, soil = text[lead.end() if lead else 0 :].partition(" on ")
    first, *rest = BETWEEN.split(things)
    objects = (_facts(first), _facts(rest[1])) if rest else (_facts(first),)
    return Statement(objects, RELATION.get(rest[0]) if rest else None, _facts(soil))


def alike(a: str, b: str) -> float:
    """Share of common facts: those that both captions state, of all that either states.

    The order of the objects is no fact. So both ways to match the objects are tried, with the relation inverted where
    they are swapped, and the better one counts.
    """
    stated, other = _stated(read(a), turned=False), read(b)
    return max(_share(stated, _stated(other, turned)) for turned in (False, True))


def _facts(words: str) -> frozenset[Fact]:
    return frozenset(fact for word in words.split() if (fact := MEANING[word]))


def _stated(statement: Statement, turned: bool) -> frozenset[tuple[int, Fact]]:
    """Facts with what they are about: object 0 or 1, or both (2)."""
    facts = {(number ^ turned, fact) for number, thing in enumerate(statement.objects) for fact in thing}
    facts |= {(2, fact) for fact in statement.ground}
    if statement.relation:
        facts.add((2, ("relation", grammar.INVERSE[statement.relation] if turned else statement.relation)))
    return frozenset(facts)


def _share(a: frozenset[tuple[int, Fact]], b: frozenset[tuple[int, Fact]]) -> float:
    return len(a & b) / len(a | b)
