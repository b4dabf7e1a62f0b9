"""What became of a published gain: the verdict on a headline claim as printed beside the one with all rows tuned."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.analysis.judged_claims import JudgedClaim, judged_claims
from benchsuite.analysis.pairing import pairable
from benchsuite.analysis.stats import Paired, compare
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import Kind
from benchsuite.papers.claim import Claim
from benchsuite.records.requests import REGIMES

Outcome = Literal[
    "robust gain", "gain of tuning", "open when tuned", "gain when tuned", "no gain seen", "worse", "not known"
]
ANSWERS: tuple[Kind, ...] = ("reproduced", "opposite", "equivalent", "undecided")
"""Verdicts that compare values."""
MEANING: dict[Outcome, str] = {
    "robust gain": "better as printed, and with all rows tuned alike",
    "gain of tuning": "better as printed only: with all rows tuned alike a gain of that size is excluded",
    "open when tuned": "better as printed; with all rows tuned alike that gain is possible and not confirmed",
    "gain when tuned": "confirmed with all rows tuned alike only",
    "no gain seen": "neither comparison confirms it, after correction for all headline claims of the paper",
    "worse": "significantly worse in a comparison, better in none",
    "not known": "a comparison is missing, or a premise of the claim does not hold",
}


@dataclass(frozen=True)
class InBothRegimes:
    """A headline claim as printed and tuned."""

    printed: JudgedClaim
    tuned: JudgedClaim
    across: Paired | None = None
    """The claim's row as printed less its reference tuned, positive for the claim: what is left of the gain once the
    reference alone is tuned. It is not tested."""

    @property
    def outcome(self) -> Outcome:
        """The pair of verdicts in a word."""
        kinds = self.printed.verdict.kind, self.tuned.verdict.kind
        if not set(kinds) <= {*ANSWERS}:
            return "not known"
        match [kind == "reproduced" for kind in kinds]:
            case [True, True]:
                return "robust gain"
            case [True, False]:
                as_printed, tuned = self.printed.gain or 0.0, self.tuned.gains
                possible = tuned and tuned.high is not None and tuned.high >= as_printed
                return "open when tuned" if possible else "gain of tuning"
            case [False, True]:
                return "gain when tuned"
        return "worse" if "opposite" in kinds else "no gain seen"

    @property
    def comparison(self) -> Hashable:
        """What is equal for a comparison of the same runs that several tables of a paper make: it counts once."""
        return self.printed.comparison, self.tuned.comparison

    @property
    def meaning(self) -> str:
        """Why it is that."""
        verdicts = zip(REGIMES.values(), (self.printed.verdict.kind, self.tuned.verdict.kind), strict=True)
        return "; ".join(f"{words}: {kind}" for words, kind in verdicts if kind not in ANSWERS) or MEANING[self.outcome]


def in_both_regimes(views: Sequence[TableView]) -> Iterator[InBothRegimes]:
    """The headline claims of each table and scale of which there is a view in either regime."""
    by_place: dict[tuple[str, str], dict[str, TableView]] = {}
    for view in views:
        by_place.setdefault(view.asked.place, {})[view.asked.regime] = view
    for pair in by_place.values():
        if len(pair) == 2:
            printed, tuned = (
                {one.claim.name: one for one in judged_claims(pair[regime]) if one.claim.headline}
                for regime in ("printed", "tuned")
            )
            for name, one in printed.items():
                if name in tuned:
                    yield InBothRegimes(one, tuned[name], _across(pair["printed"], pair["tuned"], one.claim))


def _across(printed: TableView, tuned: TableView, claim: Claim) -> Paired | None:
    """Over the seeds at which the two may be paired; None where a row has no runs."""
    ours, theirs = printed.cell(claim.row, claim.column.key), tuned.cell(claim.reference, claim.column.key)
    if ours is None or theirs is None:
        return None
    shared = ours.values.keys() & theirs.values.keys()
    seeds = [seed for seed in shared if not pairable(ours.records[seed], theirs.records[seed], printed.table.factors)]
    pair = compare(*({seed: cell.values[seed] for seed in seeds} for cell in (ours, theirs)))
    return pair.turned if claim.column.better == "lower" else pair
