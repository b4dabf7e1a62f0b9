"""The home page: headline claims at a glance. See also `overview.py`."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchsuite.analysis.judged_claims import JudgedClaim
from benchsuite.analysis.table_view import TableView
from benchsuite.report.claim_lines import ClaimForest, forests
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.origin import Origin
from benchsuite.setup import REFERENCES


@dataclass(frozen=True)
class Headlines:
    """The headline claims at one scale."""

    scale: str
    origin: Origin
    forests: Sequence[ClaimForest]


def headlines(leaderboard: Leaderboard) -> list[Headlines]:
    """By scale, that with most seeds first. Of each paper claims against the reference method come first."""
    found = []
    for scale in dict.fromkeys(view.asked.scale for view in leaderboard.views):
        views = [view for view in leaderboard.views if view.asked.scale == scale]
        claims = [(view, claim) for view in views for claim in leaderboard.claims[view.asked.name]]
        claims = [(view, claim) for view, claim in claims if claim.claim.headline]
        origin = Origin.of(views)
        if claims and origin:
            shown = forests(sorted(claims, key=lambda pair: (pair[0].table.paper, not _against_reference(*pair))))
            found.append(Headlines(scale, origin, shown))
    return sorted(found, key=lambda one: -max(one.origin.by_row))


def _against_reference(view: TableView, judged: JudgedClaim) -> bool:
    methods = {row.key: row.method for row in view.rows}
    return methods.get(judged.claim.reference) in REFERENCES.values()
