"""A paper's claims and what our runs say of them: each table's claims are one family, its added rows another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.analysis.pairing import disallowed_fields, pairable
from benchsuite.analysis.rank_correlation import Agreement, kendall
from benchsuite.analysis.ranking import Better
from benchsuite.analysis.stats import ALPHA, MOST, BySeed, Paired, adjusted_ps, compare_all, seeds_needed
from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.papers import Column, Table
from benchsuite.papers.claims import Claim, claims_of, claims_of_added
from benchsuite.papers.schema import RowKey

Kind = Literal["reproduced", "opposite", "undecided", "not comparable", "not run", "not selected"]
"""What is not selected was not asked for here; of anything else that is not run, runs are missing."""
NO_RUN = "no stored run of this table at this scale"
NOT_SELECTED = "its rows were not selected"


@dataclass(frozen=True)
class Question:
    """Does a row beat its reference on a column? With both rows' values by seed."""

    ours: BySeed
    theirs: BySeed
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
    """Holm's p in the family; None with too few seeds."""
    seeds_needed: int | None = None
    """At alpha over the number of claims: the strictest level in Holm's correction."""
    fields: tuple[str, ...] = ()
    """In which the setups differ, where that makes the rows not comparable."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict at a scale."""

    claim: Claim
    scale: str
    """"" if the table was not run at any."""
    verdict: Verdict

    @property
    def gain(self) -> float | None:
        """By how much our runs have the claim's row ahead: positive speaks for the claim, also where lower is better.

        In the unit of the measure (fractions); none where nothing could be compared.
        """
        difference = self.verdict.paired.difference if self.verdict.paired else None
        return -difference if difference and self.claim.column.better == "lower" else difference


@dataclass(frozen=True)
class ColumnAgreement:
    """How far the order of the rows of one column is the published one."""

    backbone: str
    variant: str
    column: Column
    agreement: Agreement


def judged_claims(view: TableView) -> list[JudgedClaim]:
    """The claims of a table at a scale. Holm's family is the table: all of its claims at this scale."""
    return _judged_family(view, claims_of(view.table), view.request.table)


def judged_added(view: TableView) -> list[JudgedClaim]:
    """Whether rows that the table does not have beat its reference: a family of their own.

    So the verdicts on the paper's claims do not depend on what a user adds.
    """
    known = {row.key for row in view.table.rows}
    added = [row.key for row in view.rows if row.key not in known]
    return _judged_family(view, claims_of_added(view.table, added), f"rows added to {view.request.table}")


def _judged_family(view: TableView, claims: Sequence[Claim], name: str) -> list[JudgedClaim]:
    rows = {row.key: row for row in view.rows}
    questions = [_question(claim, view, rows) for claim in claims]
    verdicts = judge_family(questions, f"{name} at scale {view.request.scale}")
    return [JudgedClaim(c, view.request.scale, v) for c, v in zip(claims, verdicts, strict=True)]


def unrun_claims(table: Table) -> list[JudgedClaim]:
    """The claims of a table for which there is no run at all."""
    return [JudgedClaim(claim, "", Verdict("not run", NO_RUN)) for claim in claims_of(table)]


def agreements(view: TableView) -> list[ColumnAgreement]:
    """For each column and each setup's rows, how far our order is the published one."""
    compared = []
    for (backbone, variant), rows in view.boards.items():
        for number, column in enumerate(view.columns):
            cells = [row.cells[number] for row in rows]
            published = any(cell.source for cell in cells)
            if column.better != "neither" and published and any(cell.n for cell in cells):
                order = kendall([cell.published for cell in cells], [cell.values for cell in cells])
                compared.append(ColumnAgreement(backbone, variant, column, order))
    return compared


def _question(claim: Claim, view: TableView, rows: Mapping[RowKey, TableRow]) -> Question:
    better: Better = "lower" if claim.column.better == "lower" else "higher"
    unit: Literal["points", ""] = "points" if claim.column.unit == "percent" else ""
    number = [column.key for column in view.columns].index(claim.column.key)
    both = [rows.get(key) for key in (claim.row, claim.reference)]
    reasons = sorted((_why_not_run(row, number, view) for row in both), key=lambda reason: reason != NOT_SELECTED)
    if reason := next(filter(None, reasons), ""):
        return Question({}, {}, better, not_run=reason, unit=unit)
    ours, theirs = (row.cells[number] for row in both if row)
    fields, refusal = _refusals(ours, theirs, view.table.factors)
    return Question(ours.values, theirs.values, better, not_comparable=fields, refusal=refusal, unit=unit)


def _why_not_run(row: TableRow | None, number: int, view: TableView) -> str:
    if row is None:
        return NOT_SELECTED
    cell = row.cells[number]
    if cell.measure is None:
        return view.request.missing.get(cell.column.key, "this column is not measured at this scale")
    return "" if cell.n else f"{row.shown}: {row.gap or 'no record'}"


def _refusals(ours: Cell, theirs: Cell, factors: Sequence[str]) -> tuple[list[str], str]:
    """Of the first shared seed that may not be paired: fields in which the setups differ, or else any other reason."""
    for seed in sorted(ours.records.keys() & theirs.records.keys()):
        pair = ours.records[seed], theirs.records[seed]
        if reason := pairable(*pair, factors):
            fields = disallowed_fields(*pair, factors)
            return fields, "" if fields else f"seed {seed}: {reason}"
    return [], ""


def judge_family(questions: Sequence[Question], family: str, alpha: float = ALPHA) -> list[Verdict]:
    """The verdicts on questions that are read together, so that in at most alpha of all families any is wrong.

    `family` says what they are claims of: "temo/table1".
    """
    pairs: list[Paired | None] = [None] * len(questions)
    allowed = [n for n, q in enumerate(questions) if not (q.not_run or q.not_comparable or q.refusal)]
    compared = compare_all([(questions[n].ours, questions[n].theirs) for n in allowed], alpha)
    for n, pair in zip(allowed, compared, strict=True):
        pairs[n] = pair if pair.n else None
    ps = adjusted_ps(pairs)
    claims = len(ps) - ps.count(None)
    return [
        _judged(question, pair, p, family, claims, alpha) if pair else _not_judged(question)
        for question, pair, p in zip(questions, pairs, ps, strict=True)
    ]


def _not_judged(question: Question) -> Verdict:
    if question.not_run:
        return Verdict("not selected" if question.not_run is NOT_SELECTED else "not run", question.not_run)
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


def _judged(question: Question, pair: Paired, p: float | None, family: str, claims: int, alpha: float) -> Verdict:
    assert pair.difference is not None
    kind: Kind = "undecided"
    if p is not None and p <= alpha:
        kind = "reproduced" if (pair.difference > 0) == (question.better == "higher") else "opposite"
    needed = seeds_needed(pair, alpha / max(claims, 1))
    parts = [
        _difference(pair.difference, pair, question.unit),
        _significance(pair, p, family, claims),
        _outlook(pair, needed) if kind == "undecided" else "",
        _unpaired_seeds(pair),
    ]
    return Verdict(kind, "; ".join(filter(None, parts)) + ".", pair, p, needed)


def _difference(difference: float, pair: Paired, unit: str) -> str:
    scale, digits = (100, ".2f") if unit else (1, ".4g")
    amount = f"{abs(scale * difference):{digits}}{f' {unit}' if unit else ''}"
    side = "above" if difference > 0 else "below"
    text = f"{amount} {side} the reference" if difference else "No difference from the reference"
    seeds = "over 1 seed" if pair.n == 1 else f"over {pair.n} seeds"
    if pair.low is None or pair.high is None:
        return f"{text} {seeds}"
    ends = f"{scale * pair.low:+{digits}} to {scale * pair.high:+{digits}}"
    return f"{text} {seeds} ({100 * (1 - pair.alpha):g}% CI {ends})"


def _significance(pair: Paired, p: float | None, family: str, claims: int) -> str:
    if p is None or pair.p is None:
        return pair.too_small
    holm = f", {_p(p)} after Holm's correction over {claims} claims of {family}" if claims > 1 else ""
    note = f"; {pair.note}" if pair.note else ""
    return f"p {_p(pair.p)}{holm}, lowest possible p of a sign-flip test {_p(pair.floor)}{note}"


def _outlook(pair: Paired, needed: int | None) -> str:
    assumed = "with this difference and spread"
    if needed is not None:
        return f"{assumed} about {needed} seeds would make it significant"
    return f"{assumed} even {MOST} seeds would be too few" if pair.difference and pair.sd is not None else ""


def _unpaired_seeds(pair: Paired) -> str:
    if not pair.unpaired:
        return ""
    plural = "s" if len(pair.unpaired) > 1 else ""
    return f"skipped seed{plural} {', '.join(map(str, pair.unpaired))}: only one of the two rows has a run"


def _p(p: float) -> str:
    return f"{p:.3g}" if p >= 0.0001 else "below 0.0001"
