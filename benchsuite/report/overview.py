"""What the home page shows: headline claims, and methods against boards on one look."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import NamedTuple

from benchsuite.analysis.against import Against, all_tuned
from benchsuite.analysis.boards import Board, PrimaryMeasure
from benchsuite.analysis.both_regimes import MEANING, Outcome, in_both_regimes
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import UNRUN
from benchsuite.grouping import by_key
from benchsuite.papers.claim import Claim
from benchsuite.planning.search_space import centre_of
from benchsuite.registry import methods
from benchsuite.report.claim_lines import ClaimForest, ClaimLine, forests
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.method_lines import by_role, cost_range, first_measures
from benchsuite.report.numbers import counted
from benchsuite.report.origin import REAL, Origin, data_of
from benchsuite.setup import REFERENCES, Towers

MOST_IN_A_COLUMN = 12
"""Headline claims of one outcome on the first page."""
LONG = 63
"""Characters of a claim, with what it is measured on, beyond which it takes two lines there in one of two columns, and
1.6 times the room."""


@dataclass(frozen=True)
class OverviewLine:
    """A method: its difference to the reference on each board that has it."""

    method: str
    title: str
    found: Mapping[str, Against]
    """By setup_id."""
    cost: float | None
    """The median over boards, as a multiple of the reference's."""

    def ahead(self, boards: Container[str]) -> int:
        """On how many of these boards it is better, less those on which it is worse."""
        kinds = [one.outcome for setup, one in self.found.items() if setup in boards]
        return kinds.count("better") - kinds.count("worse")


class Chosen(NamedTuple):
    """Values of a hyper-parameter that searches found."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Overview:
    """Methods for one kind of data on the first measure of each board: a line each, a column for each board."""

    reference: str
    """Its title."""
    boards: Sequence[Board]
    """Those on real data first."""
    lines: Sequence[OverviewLine]
    decisive: Sequence[Board]
    """Boards that put methods in order: on real data if there are any, and of these where the reference was tuned."""

    @property
    def answer(self) -> str:
        """Which methods are ahead of the reference, and which behind: tuned like it, where it was tuned."""
        shown = self.decisive
        alike = any(all_tuned(row) for row in shown[0].rows)
        ahead: list[str] = []
        behind: list[str] = []
        others, uncounted = 0, False
        for line in self.lines:
            every = [one for board in shown if (one := line.found.get(board.setup_id))]
            found = [one.outcome for one in every if all_tuned(one.row) or not alike]
            uncounted |= len(found) < len(every)
            if found and line.method != REFERENCES[self.towers]:
                others += 1
                for kind, which in (("better", ahead), ("worse", behind)):
                    if kind in found:
                        which.append(f"{line.title} (on {found.count(kind)} of {counted(len(found), 'board')})")
        where = f"On {self.data[shown[0].setup_id]}{', tuned,' if alike else ''}"
        told_of = {board.setup_id for board in shown}
        untold = sum(data == REAL for setup, data in self.data.items() if setup not in told_of) if alike else 0
        left_out = " Methods with ° were not tuned like it: they do not count here." if uncounted else ""
        left_out += f" Left out: {counted(untold, 'board')} where {self.reference} was not tuned." if untold else ""
        if not ahead and not behind:
            none = f"none of {counted(others, 'method')} is ahead of {self.reference} on any board, or behind."
            return f"{where} {none}{left_out}"
        told = [
            f"{len(names) or 'none'} {'are' if len(names) > 1 else 'is'} {how}{': ' * bool(names)}{', '.join(names)}"
            for names, how in ((ahead, f"ahead of {self.reference}"), (behind, "behind"))
        ]
        return f"{where} of {counted(others, 'method')} {'; '.join(told)}. No other is shown to be either.{left_out}"

    @cached_property
    def chosen(self) -> Chosen | None:
        """The temperatures that the reference's searches chose on real data, with all numbers tuned."""
        every = (one.reference for line in self.lines for one in line.found.values())
        rows = [row for row in every if all_tuned(row) and data_of(row.record) == REAL]
        field = centre_of(methods.card(rows[0].method)) if rows else None
        if field is None:
            return None
        every_value = (record.method.hyperparameters.get(field.name) for row in rows for record in row.records.values())
        values = [value for value in every_value if value is not None]
        return Chosen(field.name, min(values), max(values)) if values else None

    @property
    def first(self) -> str:
        """The method that is asked about first; "" where there is none."""
        return next((line.method for line in self.lines if line.method != REFERENCES[self.towers]), "")

    @property
    def towers(self) -> Towers:
        return self.boards[0].setup.towers

    @property
    def question(self) -> str:
        """The command that asks about it on data of one's own; "" of texts alone, or without a method."""
        asks = f"benchsuite compare {REFERENCES[self.towers]} {self.first} --data {self.towers}s=FOLDER"
        return asks if self.first and self.towers != "text" else ""

    def task(self, board: Board) -> PrimaryMeasure:
        return next(task for task in board.tasks if task.better != "neither")

    @cached_property
    def data(self) -> Mapping[str, str]:
        """By setup_id: whether a board's data are synthetic."""
        return {board.setup_id: data_of(board.rows[0].record) for board in self.boards}


def overviews(leaderboard: Leaderboard) -> list[Overview]:
    """For each kind of data whose boards have the reference: with one board there is nothing to set side by side."""
    compared = [board for board in leaderboard.boards if leaderboard.comparisons[board.setup_id]]
    found = []
    for boards in by_key((board.setup.towers, board) for board in compared).values():
        real = {board.setup_id for board in boards if data_of(board.rows[0].record) == REAL}
        real_first = sorted(boards, key=lambda board: board.setup_id not in real)
        references = {board.setup_id: leaderboard.comparisons[board.setup_id][0].reference for board in boards}
        title = references[boards[0].setup_id].record.method.title
        if len(boards) > 1:
            decisive = {setup for setup in real if all_tuned(references[setup])} or real or references.keys()
            lines = _lines(leaderboard, real_first, decisive)
            shown = [board for board in real_first if any(board.setup_id in line.found for line in lines)]
            found.append(Overview(title, shown, lines, [board for board in shown if board.setup_id in decisive]))
    return found


def _lines(leaderboard: Leaderboard, boards: Sequence[Board], decisive: Container[str]) -> list[OverviewLine]:
    """Methods by how often they are ahead, on decisive boards first, then by title; the reference that trained longer
    is one of them.
    """
    every = [one for board in boards for one in first_measures(leaderboard.comparisons[board.setup_id])]
    others = [one for one in every if one.row.method != one.reference.method or one.row.longer != 1]
    lines = []
    for (method, longer), several in by_key(((one.row.method, one.row.longer), one) for one in others).items():
        found = {one.board.setup_id: one for one in by_role(several)[0]}
        shown = several[0].row
        costs = cost_range(leaderboard.costs, found.values())
        title = shown.label if longer != 1 else shown.record.method.title
        lines.append(OverviewLine(method, title, found, costs[1] if costs else None))
    return sorted(lines, key=lambda line: (-line.ahead(decisive), -line.ahead(line.found), line.title.casefold()))


@dataclass(frozen=True)
class Fates:
    """What became of headline claims of one unit: by outcome, each as printed and tuned."""

    forest: ClaimForest
    """All lines, for their rulers."""
    by_outcome: Mapping[Outcome, Sequence[tuple[ClaimLine, ClaimLine]]]

    def measured(self, outcomes: Iterable[Outcome]) -> bool:
        """Whether any of their claims has a number of ours."""
        lines = chain.from_iterable(pair for outcome in outcomes for pair in self.by_outcome[outcome])
        return any(line.estimate for line in lines)

    def many(self, outcome: Outcome) -> bool:
        """Whether its claims, with numbers of ours, are too many for one column of the first screen."""
        return len(self.by_outcome[outcome]) > MOST_IN_A_COLUMN and self.measured([outcome])

    def halves(self, outcome: Outcome) -> list[Sequence[tuple[ClaimLine, ClaimLine]]]:
        """Its claims in two columns of about the same height."""
        lines = self.by_outcome[outcome]
        heights = [1 + 0.6 * (len(" beats ".join(line.rows) + line.about) > LONG) for line, _ in lines]
        first = min(range(len(lines) - 1, 0, -1), key=lambda n: max(sum(heights[:n]), sum(heights[n:])))
        return [lines[:first], lines[first:]]

    @property
    def stretches(self) -> list[list[Outcome]]:
        """Outcomes in their order: one of many claims stands alone."""
        return [list(run) for _, run in groupby(self.by_outcome, lambda outcome: self.many(outcome) and outcome)]


@dataclass(frozen=True)
class Headlines:
    """The headline claims at one scale."""

    scale: str
    data: str
    """What most of its tables measure on, in a sentence."""
    recipes: int
    """How many recipes its tables have; `data` is of the most frequent one."""
    origin: Origin | None
    """None without runs."""
    fates: Sequence[Fates]
    """Of tables in both regimes."""
    forests: Sequence[ClaimForest]
    """Of all others."""

    @property
    def lines(self) -> Iterator[tuple[ClaimLine, str]]:
        """Each claim once, with what it came to, in both regimes or by the verdict of the only one."""
        for one in self.fates:
            for outcome, pairs in one.by_outcome.items():
                yield from ((line, outcome) for line, _ in pairs)
        yield from ((line, line.judged.verdict.kind) for forest in self.forests for line in forest.lines)

    @property
    def answers(self) -> Iterator[tuple[Claim, str]]:
        return ((line.claim, outcome) for line, outcome in self.lines)

    @property
    def on_stand_ins(self) -> str:
        """How many claims were measured on other data than the paper's: `all`, `3 of 5`, or none."""
        replaced = [bool(line.judged.stand_in) for line, _ in self.lines]
        return "all" if all(replaced) else f"{sum(replaced)} of {len(replaced)}" if any(replaced) else ""

    @property
    def outcomes(self) -> Counter[str]:
        """How many claims came to what."""
        return Counter(outcome for _, outcome in self.answers)

    @property
    def undecided(self) -> int:
        """How many of those where no gain was seen are undecided in both regimes."""
        lines = (pair for one in self.fates for pair in one.by_outcome.get("no gain seen", ()))
        return sum(all(line.judged.verdict.kind == "undecided" for line in pair) for pair in lines)

    @property
    def place(self) -> tuple[bool, int]:
        """Among others: real data first, then most seeds."""
        return (self.origin.data != REAL, -max(self.origin.by_row)) if self.origin else (True, 0)


def headlines(leaderboard: Leaderboard) -> list[Headlines]:
    """By scale, those with claims and runs; scales whose claims were all not run only if there is no other."""
    scales = dict.fromkeys(view.asked.scale for view in leaderboard.views)
    every = [headlines_at(leaderboard, scale, leaderboard.views) for scale in scales]
    found = sorted((one for one in every if one.origin and one.outcomes), key=lambda one: one.place)
    return [one for one in found if one.outcomes.keys() - {*UNRUN}] or found


def headlines_at(leaderboard: Leaderboard, scale: str, tables: Sequence[TableView]) -> Headlines:
    """Those of tables at one scale."""
    views = [view for view in tables if view.asked.scale == scale]
    regimes = Counter(view.asked.table for view in views)
    claims = [(view, claim) for view in views for claim in leaderboard.claims[view.asked.name]]
    alone = [(view, one) for view, one in claims if one.claim.headline and regimes[view.asked.table] == 1]
    once = [each[0] for each in by_key((one.comparison, (view, one)) for view, one in alone).values()]
    data = Counter(view.setting.recipe.description.split(". ")[0].rstrip(".") for view in views)
    return Headlines(
        scale,
        max(data, key=data.__getitem__, default=""),
        len({view.setting.name for view in views}),
        Origin.of(views),
        list(_fates(views)),
        forests(once),
    )


def _fates(views: Sequence[TableView]) -> Iterator[Fates]:
    """A figure for each unit. A comparison of the same runs that several tables make is one line."""
    by_regime = {(view.asked.table, view.asked.regime): view for view in views}
    alike = by_key((both.comparison, both) for both in in_both_regimes(views))
    pairs = []
    for both, *others in alike.values():
        table = both.printed.claim.table
        printed = ClaimLine(by_regime[table, "printed"], both.printed, [other.printed for other in others])
        same = [other.tuned for other in others]
        tuned = ClaimLine(by_regime[table, "tuned"], both.tuned, same, both)
        pairs.append((both.outcome, printed, tuned))
    for forest in forests((line.view, line.judged) for _, *lines in pairs for line in lines):
        shown = [pair for pair in pairs if pair[1].claim.column.unit == forest.unit]
        outcomes = [outcome for outcome in MEANING if any(outcome == pair[0] for pair in shown)]
        yield Fates(forest, {o: [(one, other) for outcome, one, other in shown if outcome == o] for o in outcomes})
