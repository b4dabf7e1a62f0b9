"""Does a row beat its reference? Verdicts on a family of headline claims, and what exploration of all others finds."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from benchsuite.analysis import reasons
from benchsuite.analysis.power import power, seeds_for
from benchsuite.analysis.ranking import Better
from benchsuite.analysis.stats import (
    ALPHA,
    BySeed,
    Floats,
    Paired,
    compare_all,
    false_discovery_rates,
    half_width,
    holm,
)

Kind = Literal[
    "reproduced",
    "opposite",
    "equivalent",
    "undecided",
    "premise not met",
    "not exercised",
    "not comparable",
    "not run",
    "not selected",
    "exploratory",
]
"""What is not selected was not asked for here; of anything else that is not run, runs are missing. What is exploratory
was compared, but is no headline claim: it has no verdict, and no page counts it."""


@dataclass(frozen=True)
class Family:
    """Claims that are read together: the chance that any of them is wrongly confirmed is at most alpha."""

    name: str
    """"headline claims of temo at scale small"."""
    size: int
    """How many there are, whether they were run or not; one whose premise does not hold has left it."""


@dataclass(frozen=True)
class Verdict:
    """The answer to a question."""

    kind: Kind
    reason: str
    """One sentence, with the numbers."""
    paired: Paired | None = None
    p_adjusted: float | None = None
    """Holm's p in the family; None with too few seeds."""
    family: Family | None = None
    """The family that it was judged in."""
    confirmable: float | None = None
    """The smallest difference that could have been confirmed with these seeds and this spread, in this family."""
    power: float | None = None
    """The chance to confirm a difference as large as the published one, with these seeds and this spread."""
    seeds_for_interest: int | None = None
    """Seeds with which the smallest difference of interest is confirmed with 80% power."""
    fields: tuple[str, ...] = ()
    """In which the setups differ, where that makes the rows not comparable."""
    false_discovery_rate: float | None = None
    """Of an exploratory comparison, among all of its table."""


@dataclass(frozen=True)
class ClaimQuestion:
    """Does a row beat its reference on a column? With both rows' values by seed."""

    ours: BySeed
    theirs: BySeed
    better: Better = "higher"
    barred: Verdict | None = None
    """The answer where something else than the values decides."""
    equal: Collection[int] = ()
    """Shared seeds on which the two runs have equal numbers in all protocols, not only in this column."""
    interest: float | None = None
    """The smallest difference of interest, if the recipe states one."""
    published: float | None = None
    """By how much the paper has the row ahead, in the unit of the values; None where it has another unit."""
    stand_in: bool = False
    """Whether other data than the paper's were measured."""
    unit: Literal["points", ""] = "points"
    """How reasons say differences: of fractions in percentage points, of anything else as they are."""


def judge_family(questions: Sequence[ClaimQuestion], family: Family) -> list[Verdict]:
    """The verdicts on questions of a family: in at most alpha of all families any is wrongly confirmed.

    Holm's correction with the declared size: a claim that was not run counts as one that is not confirmed.
    """
    if len(questions) > family.size:
        raise ValueError(f"{len(questions)} questions, but {family.name} are {family.size}")
    left = [one for one in questions if one.barred and one.barred.kind == "premise not met"]
    family = replace(family, size=family.size - len(left))
    pairs = _pairs(questions)
    adjusted = holm(_ps(pairs), family.size)
    return [
        _judged(question, pair, p, family) if pair else _not_judged(question)
        for question, pair, p in zip(questions, pairs, _known(adjusted), strict=True)
    ]


def explore(questions: Sequence[ClaimQuestion]) -> list[Verdict]:
    """Differences with their intervals, which nothing corrects, and false-discovery rates: no verdicts."""
    pairs = _pairs(questions)
    rates = _known(false_discovery_rates(_ps(pairs)))
    return [
        _explored(question, pair, rate) if pair else _not_judged(question)
        for question, pair, rate in zip(questions, pairs, rates, strict=True)
    ]


def _pairs(questions: Sequence[ClaimQuestion]) -> list[Paired | None]:
    """What is compared for each question; None where nothing is."""
    sides = [({}, {}) if question.barred else (question.ours, question.theirs) for question in questions]
    return [pair if pair.n else None for pair in compare_all(sides)]


def _ps(pairs: Sequence[Paired | None]) -> Floats:
    return np.array([math.nan if pair is None or pair.too_small else pair.p for pair in pairs], dtype=np.float64)


def _known(numbers: Floats) -> list[float | None]:
    return [None if math.isnan(number) else number for number in numbers.tolist()]


def _not_judged(question: ClaimQuestion) -> Verdict:
    if question.barred:
        return question.barred
    missing = [name for name, row in (("the row", question.ours), ("its reference", question.theirs)) if not row]
    if missing:
        return Verdict("not run", f"Nothing is measured for {' and '.join(missing)}.")
    ours, theirs = (", ".join(map(str, sorted(row))) for row in (question.ours, question.theirs))
    return Verdict("not comparable", f"No shared seed: the row has {ours}, its reference {theirs}.")


def _explored(question: ClaimQuestion, pair: Paired, rate: float | None) -> Verdict:
    if set(pair.seeds) <= set(question.equal):
        return Verdict("not exercised", reasons.not_exercised(pair), pair)
    parts = [
        reasons.difference(pair, question.unit),
        reasons.false_discovery(pair, rate),
        reasons.equal_seeds(question.equal, pair),
        reasons.unpaired_seeds(pair),
    ]
    return Verdict("exploratory", "; ".join(filter(None, parts)) + ".", pair, false_discovery_rate=rate)


def _judged(question: ClaimQuestion, pair: Paired, p: float | None, family: Family) -> Verdict:
    assert pair.difference is not None
    if set(pair.seeds) <= set(question.equal):
        return Verdict("not exercised", reasons.not_exercised(pair), pair, family=family)
    level = ALPHA / family.size
    kind: Kind = "undecided"
    confirmable = chance = seeds = None
    if p is not None and p <= ALPHA:
        kind = "reproduced" if (pair.difference > 0) == (question.better == "higher") else "opposite"
    if p is not None and pair.sd:
        confirmable = half_width(pair.sd, pair.n, level)
        chance = power(question.published, pair.sd, pair.n, level) if question.published else None
        seeds = seeds_for(question.interest, pair.sd, level) if question.interest else None
        if question.interest and abs(pair.difference) + confirmable <= question.interest:
            kind = "equivalent"
    amount = reasons.amount(question.unit)
    parts = [
        reasons.difference(pair, question.unit),
        reasons.significance(pair, p, family.name, family.size),
        reasons.equivalence(pair, confirmable, question.interest, level, p, question.unit)
        if kind == "equivalent" else "",
        reasons.outlook(confirmable, amount),
        reasons.power_for(chance, question.published, question.stand_in, amount),
        reasons.plan(seeds, question.interest, confirmable, amount),
        reasons.equal_seeds(question.equal, pair),
        reasons.unpaired_seeds(pair),
    ]  # fmt: skip
    return Verdict(kind, "; ".join(filter(None, parts)) + ".", pair, p, family, confirmable, chance, seeds)
