"""A paper's claims and what our runs say of them: verdicts on its headline claims, exploration of all others."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

from benchsuite.analysis.pairing import disallowed_fields, pairable
from benchsuite.analysis.premises import findings
from benchsuite.analysis.rows import Cell, TableRow
from benchsuite.analysis.stats import ALPHA, Better, Paired
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import ClaimQuestion, Family, Verdict, explore, judge_family
from benchsuite.papers import Table
from benchsuite.papers.claim import Claim, claims_of, claims_of_added, headline_claims
from benchsuite.papers.schema import RowKey, row_name
from benchsuite.planning.recipe import Primary
from benchsuite.records.requests import Regime

NOT_SELECTED = "its rows were not selected"
NO_RUN = "no stored run of this table at this scale"


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict at a scale."""

    claim: Claim
    scale: str
    """"" if the table was not run at any."""
    verdict: Verdict
    regime: Regime | None = None
    """None if the table was not run."""
    stand_in: str = ""
    """What was measured in the place of the paper's data, in words, if anything was."""
    measured: str = ""
    """The protocol and its metric, those of the stand-in if there is one."""
    remark: str = ""
    """What the people of the folder say of it."""
    idle: str = ""
    """Why the mechanism of the reference's method did not act in its runs, if so: the claim is tested all the same,
    since a search may turn it off."""

    @property
    def gains(self) -> Paired | None:
        """Our row minus its reference, turned where lower is better; none where nothing could be compared."""
        pair = self.verdict.paired
        return pair.turned if pair and self.claim.column.better == "lower" else pair

    @property
    def gain(self) -> float | None:
        """By how much our runs have the claim's row ahead, in the unit of the measure: + speaks for the claim."""
        return self.gains.difference if self.gains else None

    @property
    def small(self) -> bool:
        """Whether the row is significantly ahead, by less than the smallest difference of interest."""
        p = self.verdict.p_adjusted
        return self.verdict.kind == "equivalent" and p is not None and p <= ALPHA and (self.gain or 0) > 0

    @property
    def comparison(self) -> Hashable:
        """What is equal where several tables of a paper compare the same runs on the same measure.

        Two data sets of the paper for which one set stands here are measured alike, too.
        """
        if self.gains is None:
            return self.claim.table, self.claim.name, self.scale
        paper = self.claim.table.partition("/")[0]
        return paper, self.scale, self.regime, self.measured, self.gains


JUDGED: WeakKeyDictionary[TableView, list[JudgedClaim]] = WeakKeyDictionary()
"""The claims of each view, which several questions look at."""
ASKED: WeakKeyDictionary[TableView, list[ClaimQuestion]] = WeakKeyDictionary()
"""The questions of each view's headline claims, which stand in the family of each of its siblings."""


def judged_claims(view: TableView) -> list[JudgedClaim]:
    """The claims of a table at a scale, headline claims first: only these have verdicts.

    Their family is the paper's, counted in the files of all its tables that have the scale.
    """
    if view not in JUDGED:
        name = f"headline claims of {view.table.paper} at scale {view.asked.scale}"
        family = Family(name, headline_claims([view.table, *view.siblings]))
        beside: list[ClaimQuestion] = []
        for other in view.beside:
            beside += _headline_questions(other)
        JUDGED[view] = _judged(view, view.claims, family, beside)
    return JUDGED[view]


def judged_added(view: TableView) -> list[JudgedClaim]:
    """Whether rows that the table does not have beat its reference: each row is a family of its own.

    So no verdict depends on what else a user adds. Verdicts are on the columns of the table's headline claims.
    """
    known = {row.key for row in view.table.rows}
    judged = []
    for key in (row.key for row in view.rows if row.key not in known):
        claims = claims_of_added(view.table, [key])
        name = f"headline columns of {row_name(key)}, added to {view.table.name} at scale {view.asked.scale}"
        judged += _judged(view, claims, Family(name, sum(claim.headline for claim in claims)))
    return judged


def _judged(
    view: TableView, claims: Sequence[Claim], family: Family, beside: Sequence[ClaimQuestion] = ()
) -> list[JudgedClaim]:
    """Headline claims as questions of a family, with those of other tables `beside` them; all others explored."""
    headline, further = ([claim for claim in claims if claim.headline == wanted] for wanted in (True, False))
    verdicts = judge_family([*_questions(view, headline), *beside], family)[: len(headline)]
    verdicts += explore(_questions(view, further))
    return [
        JudgedClaim(
            claim,
            view.asked.scale,
            verdict,
            view.asked.regime,
            view.setting.stand_ins.get(claim.column.key, ""),
            view.setting.measures.get(claim.column.key, ""),
            view.remarks.get(claim.name, ""),
            "; ".join(filter(None, (finding.idle_for(claim.reference) for finding in view.premises))),
        )
        for claim, verdict in zip([*headline, *further], verdicts, strict=True)
    ]


def _headline_questions(view: TableView) -> list[ClaimQuestion]:
    if view not in ASKED:
        ASKED[view] = _questions(view, [claim for claim in view.claims if claim.headline])
    return ASKED[view]


def _questions(view: TableView, claims: Sequence[Claim]) -> list[ClaimQuestion]:
    rows = {row.key: row for row in view.rows}
    numbers = {column.key: number for number, column in enumerate(view.columns)}
    return [_question(claim, numbers[claim.column.key], view, rows) for claim in claims]


def unrun_claims(table: Table, scale: str = "") -> list[JudgedClaim]:
    """The claims of a table for which there is no run at all; with a scale, what is known of it without runs."""
    claims, judged = claims_of(table), []
    known = [finding for finding in findings(table, claims, scale, []) if finding.unmet]
    for claim in claims:
        why = "; ".join(finding.refuted_for(claim) for finding in known if finding.concerns(claim))
        judged.append(JudgedClaim(claim, scale, Verdict("not run", "; ".join(filter(None, (NO_RUN, why))))))
    return judged


def _question(claim: Claim, number: int, view: TableView, rows: Mapping[RowKey, TableRow]) -> ClaimQuestion:
    better: Better = "lower" if claim.column.better == "lower" else "higher"
    unit: Literal["points", ""] = "points" if claim.column.unit == "percent" else ""
    both = [rows.get(key) for key in (claim.row, claim.reference)]
    if None in both:
        return ClaimQuestion({}, {}, better, Verdict("not selected", NOT_SELECTED))
    if reason := next(filter(None, (_why_not_run(row, number, view) for row in both if row)), ""):
        return ClaimQuestion({}, {}, better, Verdict("not run", reason))
    concerned = [finding for finding in view.premises if finding.concerns(claim)]
    premises = [finding for finding in concerned if finding.of_method or not claim.added]
    if unmet := [finding.refuted_for(claim) for finding in premises if finding.unmet]:
        return ClaimQuestion({}, {}, better, Verdict("premise not met", f"{'; '.join(unmet)}."))
    if reason := next(filter(None, (finding.unknown_for(claim) for finding in premises)), ""):
        return ClaimQuestion({}, {}, better, Verdict("not run", reason))
    ours, theirs = (row.cells[number] for row in both if row)
    refuted = "; ".join(filter(None, (finding.refuted_for(claim) for finding in premises)))
    wrong = Verdict("premise not met", f"{refuted}.") if refuted else None
    shared = ours.records.keys() & theirs.records.keys()
    return ClaimQuestion(
        ours=ours.values,
        theirs=theirs.values,
        better=better,
        barred=wrong or _refusal(ours, theirs, view.table.factors),
        equal={seed for seed in shared if ours.records[seed].results == theirs.records[seed].results},
        interest=interest_of(ours, view.setting.primary),
        published=published_gain(claim),
        stand_in=claim.column.key in view.setting.stand_ins,
        unit=unit,
        measure=view.setting.measures.get(claim.column.key, ""),
    )


def interest_of(cell: Cell, primary: Mapping[str, Primary]) -> float | None:
    """The smallest difference of interest of a cell's measure, if its recipe states one.

    That of a protocol is one of fractions, and so of all its metrics; of measures with a scale of their own, it is
    that of the one that is named.
    """
    protocol, _, metric = (cell.measure or "").rpartition(".")
    record = next(iter(cell.records.values()), None)
    if protocol not in primary or record is None:
        return None
    stated, metrics = primary[protocol], record.results[protocol].metrics
    applies = metric == stated.metric or {metric, stated.metric} <= metrics.keys()
    return stated.difference if applies else None


def published_gain(claim: Claim) -> float | None:
    """The published difference, or the one that the text states, in the unit of our values; None without one.

    A plain number has our unit only where one measure is named for all tracks.
    """
    gain = claim.by if claim.published is None else claim.published
    same_unit = claim.column.unit == "percent" or isinstance(claim.column.measure, str)
    if gain is None or gain <= 0 or not same_unit:
        return None
    return gain / 100 if claim.column.unit == "percent" else gain


def _why_not_run(row: TableRow, number: int, view: TableView) -> str:
    cell = row.cells[number]
    if cell.measure is None:
        return view.setting.missing.get(cell.column.key, "this column is not measured at this scale")
    return "" if cell.n else f"{row.shown}: {row.gap or 'no record'}"


def _refusal(ours: Cell, theirs: Cell, factors: Sequence[str]) -> Verdict | None:
    """Of the first shared seed that may not be paired: fields in which the setups differ, or else any other reason."""
    unpaired = "The runs cannot be paired: seed {}: {}."
    for seed in sorted(ours.records.keys() & theirs.records.keys()):
        pair = ours.records[seed], theirs.records[seed]
        if reason := pairable(*pair, factors):
            if fields := tuple(disallowed_fields(*pair, factors)):
                return Verdict("not comparable", f"The setups differ in {', '.join(fields)}.", fields=fields)
            return Verdict("not comparable", unpaired.format(seed, reason))
        searched = [record.tuned.trials if record.tuned else 0 for record in pair]
        if len({*searched}) > 1:
            trials = f"their searches had {searched[0]} and {searched[1]} trials"
            return Verdict("not comparable", unpaired.format(seed, trials))
    return None
