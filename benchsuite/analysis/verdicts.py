"""What may be said of "this row beats its reference on this column": one of five verdicts, with its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.analysis.ranking import Better, is_ahead
from benchsuite.analysis.stats import ALPHA, MOST, Paired, adjusted, compare_all, seeds_needed

Kind = Literal["reproduced", "opposite", "undecided", "not comparable", "not run"]


@dataclass(frozen=True)
class Question:
    """A claim that a row beats its reference on a column, with both rows' values by seed."""

    ours: Mapping[int, float]
    theirs: Mapping[int, float]
    better: Better = "higher"
    not_run: str = ""
    """Why there is nothing to compare, if so."""
    not_comparable: Sequence[str] = ()
    """Fields in which the setups differ."""
    refusal: str = ""
    """Why the runs may not be paired, if not for a field of the setup."""
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
    """Holm's p in the family; None below the least number of seeds."""
    seeds_needed: int | None = None
    """At alpha over the number of claims: what Holm may ask of any one of them."""
    fields: tuple[str, ...] = ()
    family: str = ""
    claims: int = 0
    """How many claims of the family have data enough to be judged."""


def judge(question: Question, alpha: float = ALPHA) -> Verdict:
    """The verdict on a question asked alone. Whoever asks several asks `judge_family`."""
    return judge_family([question], "", alpha)[0]


def judge_family(questions: Sequence[Question], family: str, alpha: float = ALPHA) -> list[Verdict]:
    """The verdicts on questions that are read together, so that in at most alpha of all families any is wrong.

    `family` says what they are claims of: "temo/table1".
    """
    pairs = _pairs(questions, alpha)
    ps = adjusted(pairs)
    claims = len(ps) - ps.count(None)
    return [
        _unpaired(question) if pair is None else _judged(question, pair, p, family, claims, alpha)
        for question, pair, p in zip(questions, pairs, ps, strict=True)
    ]


def _pairs(questions: Sequence[Question], alpha: float) -> list[Paired | None]:
    """Both rows of each question compared; None where they may not be, or share no seed."""
    found: list[Paired | None] = [None] * len(questions)
    allowed = [n for n, one in enumerate(questions) if not (one.not_run or one.not_comparable or one.refusal)]
    compared = compare_all([(questions[n].ours, questions[n].theirs) for n in allowed], alpha)
    for n, pair in zip(allowed, compared, strict=True):
        found[n] = pair if pair.n else None
    return found


def _unpaired(question: Question) -> Verdict:
    missing = [name for name, row in (("the row", question.ours), ("its reference", question.theirs)) if not row]
    if question.not_run:
        return Verdict("not run", question.not_run)
    if question.not_comparable:
        fields = tuple(question.not_comparable)
        return Verdict("not comparable", f"The setups differ in {', '.join(fields)}.", fields=fields)
    if question.refusal:
        return Verdict("not comparable", f"The runs may not be paired: {question.refusal}.")
    if missing:
        return Verdict("not run", f"Nothing is measured for {' and '.join(missing)}.")
    ours, theirs = (", ".join(map(str, sorted(row))) for row in (question.ours, question.theirs))
    return Verdict("not comparable", f"No seed in common: the row has {ours}, its reference {theirs}.")


def _judged(question: Question, pair: Paired, p: float | None, family: str, claims: int, alpha: float) -> Verdict:
    kind: Kind = "undecided"
    if p is not None and p <= alpha:
        kind = "reproduced" if is_ahead(pair.difference, question.better) else "opposite"
    needed = seeds_needed(pair, alpha / max(claims, 1))
    parts = [_where(pair, question.unit), _how_sure(pair, p, family, claims)]
    if kind == "undecided":
        parts.append(_outlook(pair, needed))
    if pair.unpaired:
        one, left_out = len(pair.unpaired) == 1, ", ".join(map(str, pair.unpaired))
        parts.append(
            f"{'seed' if one else 'seeds'} {left_out} left out, as only one of the two has {'it' if one else 'them'}"
        )
    reason = "; ".join(part for part in parts if part) + "."
    return Verdict(kind, reason, pair, p, needed, family=family, claims=claims)


def _where(pair: Paired, unit: str) -> str:
    assert pair.difference is not None
    scale, digits = (100, ".2f") if unit else (1, ".4g")
    amount = f"{abs(scale * pair.difference):{digits}}{f' {unit}' if unit else ''}"
    side = "above" if pair.difference > 0 else "below"
    found = f"{amount} {side} the reference" if pair.difference else "No difference from the reference"
    seeds = "on 1 seed" if pair.n == 1 else f"on {pair.n} seeds"
    if pair.low is None or pair.high is None:
        return f"{found} {seeds}"
    ends = f"{scale * pair.low:+{digits}} to {scale * pair.high:+{digits}}"
    return f"{found} {seeds} ({100 * (1 - pair.alpha):g}% interval over {pair.over} {ends})"


def _how_sure(pair: Paired, p: float | None, family: str, claims: int) -> str:
    if p is None or pair.p is None:
        return pair.too_small
    holm = f", {_shown(p)} by Holm over {claims} claims of {family}" if claims > 1 else ""
    note = f"; {pair.note}" if pair.note else ""
    return f"p {_shown(pair.p)}{holm}, floor of a sign-flip test {_shown(pair.floor)}{note}"


def _outlook(pair: Paired, needed: int | None) -> str:
    if needed is not None:
        return f"about {needed} seeds would be needed for a difference and spread like these"
    return f"more than {MOST} seeds would be needed" if pair.difference and pair.sd is not None else ""


def _shown(p: float) -> str:
    return f"{p:.3g}" if p >= 0.0001 else "below 0.0001"
