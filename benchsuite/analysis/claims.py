"""A paper's claims, judged by our runs: each table's as one family, and how far whole orders agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.analysis.pairing import foreign_fields, pairs
from benchsuite.analysis.rank_correlation import Agreement, kendall
from benchsuite.analysis.ranking import Better
from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.analysis.verdicts import Question, Verdict, judge_family
from benchsuite.papers import Column, Table
from benchsuite.papers.claims import Claim, claims_of

UNRUN = "no run of this table is stored here, or none at this scale"


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
    claims = distinct(claims_of(view.table))
    numbers = {column.key: number for number, column in enumerate(view.columns)}
    questions = [_question(claim, numbers[claim.column.key], view) for claim in claims]
    verdicts = judge_family(questions, f"{view.request.table} at scale {view.request.scale}")
    return [JudgedClaim(c, view.request.scale, v) for c, v in zip(claims, verdicts, strict=True)]


def unrun_claims(table: Table) -> list[JudgedClaim]:
    """The claims of a table for which there is no run at all."""
    claims = distinct(claims_of(table))
    verdicts = judge_family([Question({}, {}, not_run=UNRUN)] * len(claims), table.name)
    return [JudgedClaim(claim, "", verdict) for claim, verdict in zip(claims, verdicts, strict=True)]


def distinct(claims: Sequence[Claim]) -> list[Claim]:
    """Each comparison once; one that the text makes too is kept as the text has it."""
    found: dict[object, Claim] = {}
    for claim in claims:
        found.setdefault((frozenset((claim.row, claim.reference)), claim.column.key), claim)
    return list(found.values())


def agreements(view: TableView) -> list[ColumnAgreement]:
    """For each column and each setup's rows, how far our order is the published one."""
    found = []
    for (backbone, variant), rows in view.boards.items():
        for number, column in enumerate(view.columns):
            cells = [row.cells[number] for row in rows]
            if column.better != "neither" and any(cell.n for cell in cells):
                measured = [cell.values for cell in cells]
                order = kendall([cell.published for cell in cells], measured)
                found.append(ColumnAgreement(backbone, variant, column, order))
    return found


def _question(claim: Claim, number: int, view: TableView) -> Question:
    better: Better = "lower" if claim.column.better == "lower" else "higher"
    unit: Literal["points", ""] = "points" if claim.column.unit == "percent" else ""
    rows = [view.row(key) for key in (claim.row, claim.reference)]
    reasons = [_why_not_run(row, number, view) for row in rows]
    if reason := next(filter(None, reasons), ""):
        return Question({}, {}, better, not_run=reason, unit=unit)
    ours, theirs = (row.cells[number] for row in rows if row)
    fields, refusal = _refusals(ours, theirs, view.table.factors)
    return Question(ours.values, theirs.values, better, not_comparable=fields, refusal=refusal, unit=unit)


def _why_not_run(row: TableRow | None, number: int, view: TableView) -> str:
    if row is None:
        return "its rows were not asked for"
    cell = row.cells[number]
    if cell.measure is None:
        return view.request.missing.get(cell.column.key, "this column is not measured at this scale")
    return "" if cell.n else f"{row.shown}: {row.gap or 'no record'}"


def _refusals(ours: Cell, theirs: Cell, factors: Sequence[str]) -> tuple[list[str], str]:
    """Fields in which the setups differ, and any other reason why runs of one seed may not be paired."""
    _, refused = pairs(ours.records, theirs.records, factors)
    refused = {seed: why for seed, why in refused.items() if seed in ours.records and seed in theirs.records}
    if not refused:
        return [], ""
    seed = min(refused)
    foreign = foreign_fields(ours.records[seed], theirs.records[seed], factors)
    return foreign, "" if foreign else f"seed {seed}: {refused[seed]}"
