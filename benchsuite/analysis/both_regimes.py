"""What became of a published gain: the verdict on a headline claim as printed beside the one with all rows tuned."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchsuite.analysis.judged_claims import JudgedClaim, judged_claims
from benchsuite.analysis.pairing import pairable
from benchsuite.analysis.stats import AIM, ALPHA, Paired, compare
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import Kind
from benchsuite.papers.claim import Claim
from benchsuite.records.requests import REGIMES, Regime

Outcome = Literal[
    "robust gain", "gain at given values", "gain of tuning", "open when tuned", "gain when tuned", "no gain seen",
    "loss of tuning", "worse as printed", "worse", "not known",
]  # fmt: skip
ELSE: dict[Outcome, Regime] = {
    "gain at given values": "printed", "gain of tuning": "tuned", "open when tuned": "tuned",
    "gain when tuned": "printed",
}  # fmt: skip
"""Of a gain in one comparison, the other one: where that is the opposite, it is said."""
ANSWERS: tuple[Kind, ...] = ("reproduced", "opposite", "equivalent", "undecided")
"""Verdicts that compare values."""
MEANING: dict[Outcome, str] = {
    "robust gain": "better as printed, and with all rows tuned alike",
    "gain at given values": "confirmed at values that the table studies or keeps: tuned, too, the learning rate alone "
    "is searched",
    "gain of tuning": "better as printed only, by significantly more than with all rows tuned alike",
    "open when tuned": "better as printed; with all rows tuned alike neither confirmed nor significantly smaller",
    "gain when tuned": "confirmed with all rows tuned alike only",
    "no gain seen": "confirmed neither time, which is no proof that there is none",
    "loss of tuning": "worse as printed only, by significantly more than with all rows tuned alike",
    "worse as printed": "worse as printed; with all rows tuned alike neither confirmed nor significantly smaller",
    "worse": "worse with all rows tuned alike, and not better as printed",
    "not known": "a comparison is missing, or a premise of the claim does not hold",
}
MISSED = "one as large as published could not be seen here"
"""Of a gain that was not seen: `InBothRegimes.missed`."""
SMALL = "better by less than the smallest difference of interest"
"""Of a gain that is not confirmed: `InBothRegimes.small`."""


@dataclass(frozen=True)
class InBothRegimes:
    """A headline claim as printed and tuned."""

    printed: JudgedClaim
    tuned: JudgedClaim
    across: Paired | None = None
    """The claim's row as printed less its reference tuned, positive for the claim: what is left of the gain once the
    reference alone is tuned. It is not tested."""
    rate_alone: int = 0
    """Trials of the rows as tuned, where these search the learning rate alone; else 0."""

    @property
    def outcome(self) -> Outcome:
        """The pair of verdicts in a word."""
        kinds = self.printed.verdict.kind, self.tuned.verdict.kind
        if not set(kinds) <= {*ANSWERS}:
            return "not known"
        match kinds:
            case _, "reproduced" if self.rate_alone:
                return "gain at given values"
            case "reproduced", "reproduced":
                return "robust gain"
            case "reproduced", _:
                return "gain of tuning" if self.gone else "open when tuned"
            case _, "reproduced":
                return "gain when tuned"
            case _, "opposite":
                return "worse"
            case "opposite", _:
                return "loss of tuning" if self.gone else "worse as printed"
        return "no gain seen"

    @property
    def change(self) -> Paired:
        """The gain as tuned less that as printed, seed by seed."""
        return compare(
            *(
                dict(zip(one.seeds, one.differences, strict=True)) if one else {}
                for one in (self.tuned.gains, self.printed.gains)
            )
        )

    @property
    def change_p(self) -> float | None:
        """That of the change, after Bonferroni's correction for the family."""
        p, family = self.change.p, self.tuned.verdict.family
        return None if p is None or family is None else min(p * family.size, 1.0)

    @property
    def gone(self) -> bool:
        """Whether the difference is significantly smaller as tuned."""
        change, gain, p = self.change, self.printed.gain, self.change_p
        if gain is None or change.difference is None or p is None or change.too_small:
            return False
        return p <= ALPHA and (change.difference < 0) == (gain > 0)

    @property
    def missed(self) -> bool:
        """Whether no gain was seen, not even a small one, and neither comparison has the power to confirm one as large
        as the published.
        """
        chances = [one.verdict.power for one in (self.printed, self.tuned)]
        known = [chance for chance in chances if chance is not None]
        return self.outcome == "no gain seen" and not self.small and bool(known) and max(known) < AIM

    @property
    def small(self) -> list[str]:
        """In which regimes the row is significantly ahead, by less than the smallest difference of interest."""
        return [words for words, one in zip(REGIMES.values(), (self.printed, self.tuned), strict=True) if one.small]

    @property
    def comparison(self) -> Hashable:
        """What is equal for a comparison of the same runs that several tables of a paper make: it counts once."""
        return self.printed.comparison, self.tuned.comparison

    @property
    def idle(self) -> str:
        """Why the mechanism of the reference's method did not act, if so, and in which regime."""
        said = zip(REGIMES.values(), (self.printed.idle, self.tuned.idle), strict=True)
        return "; ".join(f"{words}: {why}" for words, why in said if why)

    @property
    def meaning(self) -> str:
        """Why it is that."""
        verdicts = zip(REGIMES.values(), (self.printed.verdict.kind, self.tuned.verdict.kind), strict=True)
        unlike = "; ".join(f"{words}: {kind}" for words, kind in verdicts if kind not in ANSWERS)
        other = ELSE.get(self.outcome)
        reversed_ = "opposite" in (self.printed.verdict.kind, self.tuned.verdict.kind)
        behind = f"; {REGIMES[other]}, it is significantly worse" if other and reversed_ else ""
        below = f"; {' and '.join(self.small)}, it is {SMALL}" if self.small else ""
        missed = f"; {MISSED}" if self.missed else ""
        return unlike or MEANING[self.outcome] + missed + behind + below


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
                    both = InBothRegimes(one, tuned[name], rate_alone=rate_alone(pair["tuned"], one.claim))
                    known = both.outcome != "not known"
                    yield replace(both, across=_across(pair["printed"], pair["tuned"], one.claim)) if known else both


def rate_alone(tuned: TableView, claim: Claim) -> int:
    """Trials of a claim's rows as tuned, where these search the learning rate alone, as their table varies or keeps
    the rest; else 0.
    """
    rows = [tuned.row(key) for key in (claim.row, claim.reference)]
    found = [record.tuned for row in rows if row for record in row.records]
    known = [one for one in found if one and not one.searched]
    return max(one.trials for one in known) if found and len(known) == len(found) else 0


def _across(printed: TableView, tuned: TableView, claim: Claim) -> Paired | None:
    """Over the seeds at which the two may be paired; None where a row has no runs."""
    ours, theirs = printed.cell(claim.row, claim.column.key), tuned.cell(claim.reference, claim.column.key)
    if ours is None or theirs is None:
        return None
    shared = ours.values.keys() & theirs.values.keys()
    seeds = [seed for seed in shared if not pairable(ours.records[seed], theirs.records[seed], printed.table.factors)]
    pair = compare(*({seed: cell.values[seed] for seed in seeds} for cell in (ours, theirs)))
    return pair.turned if claim.column.better == "lower" else pair
