"""Would another laboratory say it again? Decided verdicts beside replicates that nobody had looked at before.

They lie in a results folder of their own, `second` in the first laboratory's, and enter no table and no verdict.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.analysis.judged_claims import JudgedClaim, judged_claims
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import RecordError

Answer = Literal["agrees", "open", "contradicts", "not run"]
MEANING: dict[Answer, str] = {
    "agrees": "the same sign, and its 95% interval excludes zero",
    "open": "its 95% interval holds zero",
    "contradicts": "the other sign, and its 95% interval excludes zero",
    "not run": "it has not two replicates of both rows",
}


@dataclass(frozen=True)
class Again:
    """A verdict that decided, and the same claim in the second laboratory."""

    first: JudgedClaim
    second: JudgedClaim | None

    @property
    def answer(self) -> Answer:
        """By the interval of this comparison alone: what the first laboratory decided is asked once more."""
        gains = self.second.gains if self.second else None
        if gains is None or gains.low is None or gains.high is None:
            return "not run"
        if gains.low <= 0 <= gains.high:
            return "open"
        return "agrees" if (gains.low > 0) == (self.first.verdict.kind == "reproduced") else "contradicts"


def replicated(
    first: Sequence[TableView],
    second: Sequence[TableView],
    judge: Callable[[TableView], Sequence[JudgedClaim]] = judged_claims,
) -> list[Again]:
    """Each headline claim that is reproduced or opposite. A comparison of the same runs in several tables is one."""
    there = {view.asked.name: view for view in second}
    found: dict[object, Again] = {}
    for view in first:
        other = there.get(view.asked.name)
        if other and (shared := sorted({*view.asked.replicates} & {*other.asked.replicates})):
            which = ", ".join(map(str, shared))
            message = f"{view.asked.table}: replicates {which} of the second laboratory are the first one's"
            raise RecordError(f"{message}, so they confirm nothing. Run others there, as 100 to 109.")
        again = {one.claim.name: one for one in judged_claims(other)} if other else {}
        for one in judge(view):
            if one.claim.headline and one.verdict.kind in ("reproduced", "opposite"):
                runs = view.table.paper, view.asked.at, one.claim.column.name, one.gains
                pair = Again(one, again.get(one.claim.name))
                if runs not in found or found[runs].answer == "not run":
                    found[runs] = pair
    return list(found.values())


def agreement(again: Sequence[Again]) -> tuple[int, int]:
    """How many agree, of how many that were asked."""
    asked = [one.answer for one in again if one.answer != "not run"]
    return asked.count("agrees"), len(asked)
