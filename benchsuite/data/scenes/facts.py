"""What a caption of `scenes` says, read back word by word, and how much two captions say alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from benchsuite.data.scenes import grammar

Fact = tuple[str, str]
"""An attribute and its value, ("colour", "red")."""


class Said(NamedTuple):
    """One caption's facts: of each object in the order in which it is named, and of the ground."""

    objects: tuple[frozenset[Fact], ...]  # one or two
    relation: str | None  # of the first object to the second
    ground: frozenset[Fact]


def _meanings() -> Mapping[str, Fact | None]:
    lexicons: dict[str, dict[str, tuple[str, ...]]] = {
        "colour": grammar.HUES,
        "shape": grammar.NOUNS,
        "ground": grammar.SOILS,
        "pattern": grammar.WEAVES,
        "size": {"big": grammar.BIG, "small": grammar.SMALL},
    }
    silent = dict.fromkeys((*grammar.ANY, "a", "an", "the", "one"))
    said = {
        word: (attribute, value)
        for attribute, lexicon in lexicons.items()
        for value, words in lexicon.items()
        for word in words
    }
    return {**said, **silent}


MEANING = _meanings()
RELATION = {phrase: name for name, phrases in grammar.PLACES.items() for phrase in phrases}
LEAD = re.compile("|".join(sorted({lead for lead in grammar.LEADS if lead}, key=len, reverse=True)))
BETWEEN = re.compile(f" ({'|'.join(sorted([*RELATION, 'and', 'with'], key=len, reverse=True))}) ")


@lru_cache(maxsize=2**14)
def read(text: str) -> Said:
    """What the caption says. A synonym says what its word says; "thing" and articles say nothing."""
    lead = LEAD.match(text)
    things, _, soil = text[lead.end() if lead else 0 :].partition(" on ")
    first, *rest = BETWEEN.split(things)
    objects = (_facts(first), _facts(rest[1])) if rest else (_facts(first),)
    return Said(objects, RELATION.get(rest[0]) if rest else None, _facts(soil))


def alike(a: str, b: str) -> float:
    """Share of facts in common: those that both captions state, of all that either states.

    Which object is named first is no fact. So both ways of matching the objects are tried, with the relation turned
    round where they change places, and the better one counts.
    """
    one, other = read(a), read(b)
    stated = _stated(one, turned=False)
    return max(_share(stated, _stated(other, turned)) for turned in (False, True))


def _facts(words: str) -> frozenset[Fact]:
    return frozenset(fact for word in words.split() if (fact := MEANING[word]))


def _stated(said: Said, turned: bool) -> frozenset[tuple[int, Fact]]:
    """Facts with whom they are of: object 0 or 1, or both of them (2)."""
    facts = {(number ^ turned, fact) for number, thing in enumerate(said.objects) for fact in thing}
    facts |= {(2, fact) for fact in said.ground}
    if said.relation:
        facts.add((2, ("relation", grammar.INVERSE[said.relation] if turned else said.relation)))
    return frozenset(facts)


def _share(a: frozenset[tuple[int, Fact]], b: frozenset[tuple[int, Fact]]) -> float:
    return len(a & b) / len(a | b)
