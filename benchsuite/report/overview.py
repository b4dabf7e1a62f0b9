"""What the home page shows: headline claims, and methods against boards on one look."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from benchsuite.analysis.against import Against
from benchsuite.analysis.boards import Board, PrimaryMeasure
from benchsuite.analysis.judged_claims import JudgedClaim
from benchsuite.analysis.table_view import TableView
from benchsuite.report.claim_lines import ClaimForest, forests
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.method_lines import by_role, first_measures
from benchsuite.report.origin import REAL, Origin, data_of
from benchsuite.setup import REFERENCES


@dataclass(frozen=True)
class OverviewLine:
    """A method: its difference to the reference on each board that has it."""

    method: str
    title: str
    found: Mapping[str, Against]
    """By setup_id."""
    cost: float | None
    """The median over boards, as a multiple of the reference's."""

    @property
    def ahead(self) -> int:
        """On how many boards it is better, less those on which it is worse."""
        kinds = [one.outcome for one in self.found.values()]
        return kinds.count("better") - kinds.count("worse")


@dataclass(frozen=True)
class Overview:
    """Methods for one kind of data on the first measure of each board: a line each, a column for each board."""

    reference: str
    """Its title."""
    boards: Sequence[Board]
    """Those on real data first."""
    lines: Sequence[OverviewLine]

    def task(self, board: Board) -> PrimaryMeasure:
        return next(task for task in board.tasks if task.better != "neither")

    @cached_property
    def data(self) -> Mapping[str, str]:
        """By setup_id: whether a board's data are synthetic."""
        return {board.setup_id: data_of(board.rows[0].record) for board in self.boards}


def overviews(leaderboard: Leaderboard) -> list[Overview]:
    """For each kind of data whose boards have the reference: with one board there is nothing to set side by side."""
    by_towers: defaultdict[str, list[Board]] = defaultdict(list)
    for board in leaderboard.boards:
        if leaderboard.comparisons[board.setup_id]:
            by_towers[board.setup.towers].append(board)
    found = []
    for boards in by_towers.values():
        real_first = sorted(boards, key=lambda board: data_of(board.rows[0].record) != REAL)
        title = leaderboard.comparisons[boards[0].setup_id][0].reference.record.method.title
        if len(boards) > 1:
            found.append(Overview(title, real_first, _lines(leaderboard, real_first)))
    return found


def _lines(leaderboard: Leaderboard, boards: Sequence[Board]) -> list[OverviewLine]:
    """Methods by how often they are ahead, then by title; the reference that trained longer is one of them."""
    rows: defaultdict[tuple[str, float], list[Against]] = defaultdict(list)
    for board in boards:
        for one in first_measures(leaderboard.comparisons[board.setup_id]):
            if one.row.method != one.reference.method or one.row.longer != 1:
                rows[one.row.method, one.row.longer].append(one)
    lines = []
    for (method, longer), several in rows.items():
        found = {one.board.setup_id: one for one in by_role(several)[0]}
        shown = several[0].row
        costs = [leaderboard.costs[setup][one.row.label].median for setup, one in found.items()]
        known = [cost for cost in costs if cost is not None]
        title = shown.label if longer != 1 else shown.record.method.title
        lines.append(OverviewLine(method, title, found, median(known) if known else None))
    return sorted(lines, key=lambda line: (-line.ahead, line.title.casefold()))


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
