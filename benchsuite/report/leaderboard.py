"""All that the site shows, computed when a page asks for it and remembered."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from benchsuite.analysis.against import Against, RelativeCost, against_reference, costs
from benchsuite.analysis.boards import Board, boards
from benchsuite.analysis.judged_claims import JudgedClaim, judged_added, judged_claims
from benchsuite.analysis.results import ResultsFolder
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.second_laboratory import Again, replicated
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.tracks import TrackAgreement, track_agreements
from benchsuite.cards import Card
from benchsuite.grouping import by_key
from benchsuite.papers.schema import RowKey
from benchsuite.planning.recipe import Primary
from benchsuite.records.contents import Contents
from benchsuite.records.requests import REGIMES
from benchsuite.records.schema import Record
from benchsuite.registry import methods
from benchsuite.report.claim_lines import ClaimLine
from benchsuite.report.method_lines import COLOURS
from benchsuite.report.origin import data_of


@dataclass(frozen=True)
class MethodSummary:
    """A method of any row or run."""

    name: str
    card: Card | None
    """None for a method of a plugin that is not loaded now."""
    records: Sequence[Record]
    rows: Sequence[tuple[TableView, TableRow]]
    """Those of tables in which it appears."""

    @property
    def title(self) -> str:
        """As registered, else as its records have it."""
        return self.card.title if self.card else self.records[0].method.title if self.records else self.name

    @property
    def owner(self) -> str:
        """Its module, or the name of a plugin's file without its folder."""
        owner = self.card.owner if self.card else ""
        return owner if owner.startswith("benchsuite.") else Path(owner).name

    @property
    def tables(self) -> Mapping[tuple[str, str], list[tuple[TableView, TableRow]]]:
        """Its rows by table and scale, each once."""
        found: dict[tuple[str, str], dict[RowKey, tuple[TableView, TableRow]]] = {}
        for view, row in self.rows:
            found.setdefault(view.asked.place, {})[row.key] = view, row
        return {place: list(rows.values()) for place, rows in found.items()}


@dataclass(frozen=True)
class Owner:
    """Whose pages they are."""

    title: str = "benchsuite"
    text: str = "Does one contrastive method really beat another?"
    """The heading of the home page."""
    link: str = ""
    """An address on the web; none if empty."""


@dataclass(frozen=True)
class Leaderboard:
    """Stored runs, and the tables that requested them."""

    contents: Contents
    views: Sequence[TableView]
    problems: Sequence[str] = ()
    """Skipped files, each with the reason."""
    second: Sequence[TableView] = ()
    """Tables of a second laboratory."""
    owner: Owner = Owner()

    @classmethod
    def of(cls, read: ResultsFolder, owner: Owner = Owner()) -> Self:
        """A results folder's, with what a second laboratory says."""
        second = read.second.views if read.second else ()
        return cls(read.contents, read.views, [str(error) for error in read.skipped], second, owner)

    @property
    def records(self) -> Mapping[str, Record]:
        return self.contents.records

    @cached_property
    def claims(self) -> Mapping[str, list[JudgedClaim]]:
        """By table and scale: its claims, judged as one family."""
        return {view.asked.name: judged_claims(view) for view in self.views}

    @cached_property
    def again(self) -> Sequence[Again]:
        """What a second laboratory says of decided claims; nothing without one."""
        return replicated(self.views, self.second) if self.second else ()

    @cached_property
    def added(self) -> Mapping[str, list[JudgedClaim]]:
        """By table and scale: rows that are not the paper's against the table's reference, a family of their own."""
        return {view.asked.name: judged_added(view) for view in self.views}

    @cached_property
    def by_paper(self) -> Mapping[tuple[str, str], list[TableView]]:
        """The tables of each paper at each scale."""
        return by_key(((view.table.paper, view.asked.scale), view) for view in self.views)

    @cached_property
    def by_scale(self) -> Mapping[str, list[TableView]]:
        """The tables with runs at each scale."""
        return by_key((view.asked.scale, view) for view in self.views if view.runs)

    @cached_property
    def agreements(self) -> list[TrackAgreement]:
        """How far each two scales order methods alike."""
        return track_agreements(self.views)

    @cached_property
    def by_place(self) -> Mapping[tuple[str, str], list[TableView]]:
        """What shares a page: a table at a scale, as printed and tuned, or in the only regime that was run."""
        in_order = sorted(self.views, key=lambda view: [*REGIMES].index(view.asked.regime))
        views = by_key((view.asked.place, view) for view in in_order)
        return {view.asked.place: views[view.asked.place] for view in self.views}

    @cached_property
    def boards(self) -> list[Board]:
        """A board of methods against tasks for each setup."""
        return boards(self.records.values(), self.views)

    @cached_property
    def costs(self) -> Mapping[str, Mapping[str, RelativeCost]]:
        """By setup and row of its board."""
        return {board.setup_id: costs(board) for board in self.boards}

    @cached_property
    def interest(self) -> Mapping[str, Mapping[str, Primary]]:
        """By setup_id: the smallest differences of interest by protocol, as the recipes of its tables state them."""
        stated: dict[str, Mapping[str, Primary]] = {}
        for view in self.views:
            stated |= {record.setup_id: view.setting.primary for record in view.runs if view.setting.primary}
        return stated

    @cached_property
    def stood(self) -> Mapping[str, str]:
        """By setup_id: its data, and the towers in the backbone's place, as the recipes of its tables say."""
        found: defaultdict[str, str] = defaultdict(str)
        for view in self.views:
            for row in view.rows:
                for record in row.records:
                    towers = view.setting.backbones.get(row.backbone)
                    found[record.setup_id] = f"{data_of(record)}, {towers}" if towers else data_of(record)
        return found

    @cached_property
    def comparisons(self) -> Mapping[str, Sequence[Against]]:
        """By board's setup_id: each of its rows against the reference on each measure that ranks."""
        of_setup = self.interest
        return {board.setup_id: against_reference(board, of_setup.get(board.setup_id, {})) for board in self.boards}

    def against(self, method: str) -> list[Against]:
        """A method's rows against the reference of their boards; of the reference's own method, none."""
        every = (one for found in self.comparisons.values() for one in found)
        return [one for one in every if one.row.method == method != one.reference.method]

    def looked_at(self, one: Against) -> ClaimLine | None:
        """The headline claim on the same runs with the same verdict, if people say what they looked at before they
        published it.
        """
        runs = _runs(one.row.records.values()), _runs(one.reference.records.values())
        alike = COLOURS.get(one.outcome, one.outcome)
        return next((line for line in self._looked_at.get(runs, ()) if line.judged.verdict.kind == alike), None)

    @cached_property
    def _looked_at(self) -> Mapping[tuple[frozenset[str], frozenset[str]], Sequence[ClaimLine]]:
        every = ((view, judged) for view in self.views for judged in self.claims[view.asked.name] if judged.remark)
        return by_key((_both(line), line) for line in (ClaimLine(*each) for each in every))

    @cached_property
    def methods(self) -> Mapping[str, MethodSummary]:
        """Every method of a row or a run, by name."""
        records = by_key((record.method.name, record) for record in self.records.values())
        rows = by_key((row.method, (view, row)) for view in self.views for row in view.rows if row.method)
        cards = {name: methods.card(name) if name in methods else None for name in sorted({*records, *rows})}
        return {n: MethodSummary(n, card, records.get(n, []), rows.get(n, [])) for n, card in cards.items()}


def _both(line: ClaimLine) -> tuple[frozenset[str], frozenset[str]]:
    """The runs of a claim's row, and those of its reference."""
    ours, theirs = line.table_rows
    return _runs(ours.records if ours else ()), _runs(theirs.records if theirs else ())


def _runs(records: Iterable[Record]) -> frozenset[str]:
    return frozenset(record.run_id for record in records)
