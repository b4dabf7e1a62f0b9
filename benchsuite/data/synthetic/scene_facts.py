"""The facts that a caption of `scenes` states, parsed word by word, and the share that two captions have in common."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from benchsuite.data.synthetic import scene_grammar as grammar

Fact = tuple[str, str]
"""An attribute and its value, ("colour", "red")."""


class Statement(NamedTuple):
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
