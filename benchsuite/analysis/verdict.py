"""Does a row beat its reference? Verdicts on a family of headline claims, and what exploration of all others finds."""

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from benchsuite.analysis.stats import (
    AIM,
    ALPHA,
    MOST,
    Better,
    BySeed,
    Floats,
    Paired,
    compare_all,
    false_discovery_rates,
    half_width,
    holm,
    levels,
    power,
    seeds_for,
)

Kind = Literal[
    "reproduced", "opposite", "equivalent", "undecided", "premise not met", "not exercised", "not comparable",
    "not run", "not selected", "exploratory",
]  # fmt: skip
"""What is not selected was not asked for here; of anything else that is not run, runs are missing. What is exploratory
was compared, but is no headline claim: it has no verdict, and no page counts it."""
UNRUN: tuple[Kind, ...] = ("not run", "not selected")
"""Of claims without runs."""


@dataclass(frozen=True)
class Family:
    """Claims that are read together: the chance that any of them is wrongly confirmed is at most alpha."""

    name: str
    """"headline claims of temo at scale small"."""
    size: int
    """How many there are, whether they were run or not; one whose premise does not hold has left it, and what two
    tables compare alike counts once.
    """


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
    """The smallest difference that could have been confirmed with these seeds and this spread, the family's other
    claims as they are: none that lies with its interval within the smallest difference of interest."""
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
    measure: str = ""
    """What is measured: equal values of one measure are one comparison, in whichever tables it stands. "": unknown."""


def judge_family(questions: Sequence[ClaimQuestion], family: Family) -> list[Verdict]:
    """The verdicts on questions of a family: in at most alpha of all families any is wrongly confirmed.

    Holm's correction with the declared size: a claim that was not run counts as one that is not confirmed.
    """
    if len(questions) > family.size:
        raise ValueError(f"{len(questions)} questions, but {family.name} are {family.size}")
    left = [one for one in questions if one.barred and one.barred.kind == "premise not met"]
    pairs = _pairs(questions)
    each: list[Hashable] = [
        (one.measure, pair) if pair and one.measure else number
        for number, (one, pair) in enumerate(zip(questions, pairs, strict=True))
    ]
    once = dict(zip(each, pairs, strict=True))
    family = replace(family, size=family.size - len(left) - len(each) + len(once))
    ps = _ps([*once.values()])
    adjusted, tested_at = _known(holm(ps, family.size)), levels(ps, family.size).tolist()
    tested = dict(zip(once, zip(adjusted, tested_at, strict=True), strict=True))
    return [
        _judged(question, pair, tested[one][0], family, tested[one][1]) if pair else _not_judged(question)
        for question, pair, one in zip(questions, pairs, each, strict=True)
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


def _not_exercised(question: ClaimQuestion, pair: Paired, family: Family | None = None) -> Verdict | None:
    """The verdict where what the rows differ in changed nothing."""
    if not set(pair.seeds) <= set(question.equal):
        return None
    seeds = "the one shared seed" if pair.n == 1 else f"all {pair.n} shared seeds"
    reason = f"Both rows have equal numbers in all protocols on {seeds}: what they differ in changed nothing."
    return Verdict("not exercised", reason, pair, family=family)


def _explored(question: ClaimQuestion, pair: Paired, rate: float | None) -> Verdict:
    if nothing := _not_exercised(question, pair):
        return nothing
    among = "" if rate is None else f", false-discovery rate {_p_value(rate)}"
    return Verdict("exploratory", _reason(question, pair, among), pair, false_discovery_rate=rate)


def _judged(question: ClaimQuestion, pair: Paired, p: float | None, family: Family, tested_at: float) -> Verdict:
    """`tested_at`: the level at which Holm comes to this question, the others as they are."""
    assert pair.difference is not None
    if nothing := _not_exercised(question, pair, family):
        return nothing
    level, unit = ALPHA / family.size, question.unit
    kind: Kind = "undecided"
    confirmable = chance = seeds = None
    parts = []
    if p is not None and p <= ALPHA:
        kind = "reproduced" if (pair.difference > 0) == (question.better == "higher") else "opposite"
    half = math.inf if p is None else half_width(pair.sd or 0.0, pair.n, level)
    stated = "the smallest difference of interest"
    spread = bool(pair.sd) or kind != "undecided"  # without any, only what signs confirm is known to be small
    if spread and question.interest and abs(pair.difference) + half <= question.interest:
        small = "" if kind == "undecided" else "significant, but too small to matter: "
        interval = _interval(pair.difference - half, pair.difference + half, unit)
        within = f"{interval}, lies within ± {_amount(question.interest, unit)}, {stated}"
        parts.append(f"{small}the {100 * (1 - level):.5g}% CI in the family, {within}")
        kind = "equivalent"
    if p is not None and pair.sd:
        least = max(0.0, (question.interest or 0.0) - half)  # a smaller one is equivalent
        confirmable = max(half_width(pair.sd, pair.n, tested_at), least)
        parts.append(f"smallest difference that could have been confirmed: {_amount(confirmable, unit)}")
        if question.published:
            chance = power(question.published, pair.sd, pair.n, level, least)
            what = "a difference as large as the published one" if question.stand_in else "the published difference"
            parts.append(f"power for {what} ({_amount(question.published, unit)}): {percentage(chance)}")
        if question.interest is None:
            parts.append(f"the recipe states no {stated.removeprefix('the ')}")
        else:
            seeds = seeds_for(question.interest, pair.sd, level)
            takes = f"{_amount(question.interest, unit)}, {stated}, takes {seeds or f'more than {MOST}'} seeds"
            parts.append(f"{100 * AIM:g}% power for {takes}")
    corrected = "" if p is None else f", {_p_value(p)} after Holm's correction for {family.size} {family.name}"
    reason = _reason(question, pair, corrected if family.size > 1 else "", parts)
    return Verdict(kind, reason, pair, p, family, confirmable, chance, seeds)


def _reason(question: ClaimQuestion, pair: Paired, among: str, parts: Sequence[str] = ()) -> str:
    """The mean difference with its interval, which nothing corrects; p, and what it is `among` others; then `parts`."""
    assert pair.difference is not None
    side = "above" if pair.difference > 0 else "below"
    shown = f"{_amount(pair.difference, question.unit)} {side} the reference"
    text = shown if pair.difference else "No difference from the reference"
    text += " over 1 seed" if pair.n == 1 else f" over {pair.n} seeds"
    if pair.low is not None and pair.high is not None:
        text += f" (95% CI {_interval(pair.low, pair.high, question.unit)})"
    known = pair.too_small
    if not known and pair.p is not None:
        known = f"p {_p_value(pair.p)}{among}" + f"; {pair.note}" * bool(pair.note)
    equal = _seeds(sorted(set(question.equal) & set(pair.seeds)), "both rows have equal numbers in all protocols on {}")
    skipped = _seeds(pair.unpaired, "skipped {}: only one of the two rows has a run")
    return "; ".join(filter(None, (text, known, *parts, equal, skipped))) + "."


def _seeds(seeds: Sequence[int], text: str) -> str:
    return text.format(f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}") if seeds else ""


def _amount(value: float, unit: str) -> str:
    """A difference without its sign: of fractions in percentage points, of anything else as it is."""
    return f"{100 * abs(value):.2f} {unit}" if unit else f"{abs(value):.4g}"


def _interval(low: float, high: float, unit: str) -> str:
    scale, digits = (100, ".2f") if unit else (1, ".4g")
    return f"{scale * low:+{digits}} to {scale * high:+{digits}}"


def _p_value(p: float) -> str:
    return f"{p:.3g}" if p >= 0.0001 else "below 0.0001"


def percentage(share: float) -> str:
    """A power."""
    return "below 1%" if share < 0.01 else "above 99%" if share > 0.99 else f"{100 * share:.0f}%"
