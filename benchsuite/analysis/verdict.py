"""Does a row beat its reference? The verdicts on the questions of one family, whose size is fixed before any run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.analysis import reasons
from benchsuite.analysis.power import power, seeds_for
from benchsuite.analysis.ranking import Better
from benchsuite.analysis.stats import ALPHA, BySeed, Paired, bonferroni, compare_all, half_width

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
]
"""What is not selected was not asked for here; of anything else that is not run, runs are missing."""


@dataclass(frozen=True)
class Family:
    """Claims that are read together: the chance that any of them is wrongly confirmed is at most alpha."""

    name: str
    """"headline claims of temo at scale small"."""
    size: int
    """How many there are, whether they were run or not."""


@dataclass(frozen=True)
class ClaimQuestion:
    """Does a row beat its reference on a column? With both rows' values by seed."""

    ours: BySeed
    theirs: BySeed
    better: Better = "higher"
    not_selected: str = ""
    """What was not asked for here, if anything was not."""
    not_run: str = ""
    """Why there is nothing to compare, if so."""
    not_comparable: Sequence[str] = ()
    """Fields in which the setups differ."""
    refusal: str = ""
    """Why the runs may not be paired, if not for a field of the setup."""
    premise: str = ""
    """Which premise does not hold, with the numbers, if any does not."""
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


@dataclass(frozen=True)
class Verdict:
    """The answer to a question."""

    kind: Kind
    reason: str
    """One sentence, with the numbers."""
    paired: Paired | None = None
    p_adjusted: float | None = None
    """Bonferroni's p in the family; None with too few seeds."""
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


def judge_family(questions: Sequence[ClaimQuestion], family: Family, alpha: float = ALPHA) -> list[Verdict]:
    """The verdicts on questions of a family: in at most alpha of all families any is wrongly confirmed.

    Bonferroni's correction with the declared size: a verdict does not depend on which other questions are asked here.
    """
    if len(questions) > family.size:
        raise ValueError(f"{len(questions)} questions, but {family.name} are {family.size}")
    allowed = [n for n, question in enumerate(questions) if not _is_barred(question)]
    sides = [(questions[n].ours, questions[n].theirs) for n in allowed]
    pairs = dict(zip(allowed, compare_all(sides, alpha), strict=True))
    return [
        _judged(question, pairs[n], family, alpha) if n in pairs and pairs[n].n else _not_judged(question)
        for n, question in enumerate(questions)
    ]


def _is_barred(question: ClaimQuestion) -> bool:
    """Whether something else than the values decides."""
    has_runs = not (question.not_selected or question.not_run)
    return not has_runs or bool(question.premise or question.not_comparable or question.refusal)


def _not_judged(question: ClaimQuestion) -> Verdict:
    if question.premise:
        return Verdict("premise not met", question.premise)
    if question.not_selected:
        return Verdict("not selected", question.not_selected)
    if question.not_run:
        return Verdict("not run", question.not_run)
    if question.not_comparable:
        fields = tuple(question.not_comparable)
        return Verdict("not comparable", f"The setups differ in {', '.join(fields)}.", fields=fields)
    if question.refusal:
        return Verdict("not comparable", f"The runs cannot be paired: {question.refusal}.")
    missing = [name for name, row in (("the row", question.ours), ("its reference", question.theirs)) if not row]
    if missing:
        return Verdict("not run", f"Nothing is measured for {' and '.join(missing)}.")
    ours, theirs = (", ".join(map(str, sorted(row))) for row in (question.ours, question.theirs))
    return Verdict("not comparable", f"No shared seed: the row has {ours}, its reference {theirs}.")


def _judged(question: ClaimQuestion, pair: Paired, family: Family, alpha: float) -> Verdict:
    assert pair.difference is not None
    if set(pair.seeds) <= set(question.equal):
        return Verdict("not exercised", reasons.not_exercised(pair), pair, family=family)
    level = alpha / family.size
    p = None if pair.p is None or pair.too_small else bonferroni(pair.p, family.size)
    kind: Kind = "undecided"
    confirmable = chance = seeds = None
    if p is not None and p <= alpha:
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
