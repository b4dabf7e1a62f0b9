"""A second laboratory: each difference that decided, asked once more on replicates that nobody had looked at."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.analysis.both_regimes import InBothRegimes, in_both_regimes
from benchsuite.analysis.judged_claims import JudgedClaim, judged_claims
from benchsuite.analysis.stats import ALPHA, Paired, power
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import RecordError
from benchsuite.grouping import by_key
from benchsuite.records.requests import REGIMES

Answer = Literal["agrees", "open", "contradicts", "not run"]
ANSWER_MEANING: dict[Answer, str] = {
    "agrees": "the same sign, and its 95% interval excludes zero",
    "open": "its 95% interval holds zero",
    "contradicts": "the other sign, and its 95% interval excludes zero",
    "not run": "it was not asked, which takes two replicates of both rows there",
}
CHANGE = "tuned less as printed"
"""What is asked of a gain or a loss of tuning, beside the verdict as printed."""


@dataclass(frozen=True)
class Again:
    """A difference that decided in the first laboratory, and the same one in the second."""

    asked: str
    """Which one: that of the rows as printed, of the rows as tuned, or the change from one to the other."""
    first: JudgedClaim
    """Of a change, as tuned."""
    second: JudgedClaim | None
    found: Paired
    """By the first; positive speaks for the claim."""
    again: Paired | None
    """By the second."""

    @property
    def answer(self) -> Answer:
        """By the interval of this comparison alone: what the first laboratory decided is asked once more.

        Without spread the interval says nothing, and the signs decide.
        """
        if self.again is None or self.again.low is None or self.again.high is None or self.again.p is None:
            return "not run"
        if self.again.low <= 0 <= self.again.high or (not self.again.sd and self.again.p > ALPHA):
            return "open"
        return "agrees" if (self.again.low > 0) == ((self.found.difference or 0) > 0) else "contradicts"

    @property
    def chance(self) -> float:
        """That it agrees, if what the first laboratory found is the true difference; 0 if it was not run.

        The spread is that of both: by the second one's alone, the luck that decides its answer would also decide what
        is expected of it.
        """
        if self.again is None or self.again.sd is None or self.found.sd is None or self.found.difference is None:
            return 0.0
        sd = math.sqrt((self.found.sd**2 + self.again.sd**2) / 2)
        return power(self.found.difference, sd, self.again.n) if sd else float(self.answer == "agrees")


def replicated(first: Sequence[TableView], second: Sequence[TableView]) -> list[Again]:
    """Each headline claim that is reproduced or opposite, then each gain or loss that significantly changes when tuned.

    A comparison of the same runs in several tables is one.
    """
    found: dict[Hashable, Again] = {}
    for comparison, again in (*_verdicts(first, second), *_changes(first, second)):
        if comparison not in found or found[comparison].answer == "not run":
            found[comparison] = again
    return list(found.values())


def _verdicts(first: Sequence[TableView], second: Sequence[TableView]) -> Iterator[tuple[Hashable, Again]]:
    there = {view.asked.name: view for view in second}
    for view in first:
        other = there.get(view.asked.name)
        if other and (shared := sorted(_replicates(view) & _replicates(other))):
            which = ", ".join(map(str, shared))
            message = f"{view.asked.table}: replicates {which} of the second laboratory are the first one's"
            raise RecordError(f"{message}, so they confirm nothing. Run others there, as 100 to 109.")
        judged = {one.claim.name: one for one in judged_claims(other)} if other else {}
        for one in judged_claims(view):
            if one.claim.headline and one.verdict.kind in ("reproduced", "opposite") and one.gains:
                again = judged.get(one.claim.name)
                gains = again.gains if again else None
                yield one.comparison, Again(REGIMES[view.asked.regime], one, again, one.gains, gains)


def _replicates(view: TableView) -> set[int]:
    """Those that were asked for, and those of all runs that the table shows."""
    return {*view.asked.replicates, *(record.seed for record in view.runs)}


def _changes(first: Sequence[TableView], second: Sequence[TableView]) -> Iterator[tuple[Hashable, Again]]:
    judged = {_asked(one): one for one in in_both_regimes(second)}
    for one in in_both_regimes(first):
        if one.outcome in ("gain of tuning", "loss of tuning"):
            again = judged.get(_asked(one))
            tuned, change = (again.tuned, again.change) if again else (None, None)
            yield one.comparison, Again(CHANGE, one.tuned, tuned, one.change, change)


def _asked(both: InBothRegimes) -> Hashable:
    return both.tuned.claim.table, both.tuned.claim.name, both.tuned.scale


def agreement(again: Sequence[Again]) -> tuple[int, int, float]:
    """How many agree, of how many that were asked; and how many would on average, were the first differences true.

    A difference that was confirmed is rather too large than too small, so somewhat fewer are to be expected.
    """
    return *_agreed(again), sum(one.chance for one in again)


def agreement_by_scale(again: Sequence[Again]) -> dict[str, tuple[int, int]]:
    """How many agree, of how many that were asked, at each scale where any was."""
    counts = {scale: _agreed(asked) for scale, asked in by_key((one.first.scale, one) for one in again).items()}
    return {scale: count for scale, count in counts.items() if count[1]}


def _agreed(again: Sequence[Again]) -> tuple[int, int]:
    answers = [one.answer for one in again if one.answer != "not run"]
    return answers.count("agrees"), len(answers)
