"""All that the site shows, computed when a page asks for it and remembered."""

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchsuite.analysis.boards import Board, BoardRow, boards
from benchsuite.analysis.claims import ColumnAgreement, JudgedClaim, agreements, judged_claims
from benchsuite.analysis.costs import Cost, costs
from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.cards import Card
from benchsuite.papers.schema import RowKey, row_name
from benchsuite.records.code_version import stale
from benchsuite.records.contents import Contents
from benchsuite.records.schema import Record
from benchsuite.registry import methods
from benchsuite.report.figures import Figure, table_figures

Ranks = Callable[[Record], Mapping[str, NDArray[Any]]]


@dataclass(frozen=True)
class Appearance:
    """A run in a row of a table."""

    view: TableView
    row: TableRow


Result = tuple[Appearance, Cell]
"""A number, and the row that it is in."""


@dataclass(frozen=True)
class MethodSummary:
    """A method that any row or run is of."""

    name: str
    title: str
    card: Card | None
    """None for a method of a plugin that is not loaded now."""
    records: Sequence[Record]
    rows: Sequence[Appearance]

    @property
    def owner(self) -> str:
        """The module it is in, or the name of a plugin's file, which lies wherever its author has it."""
        owner = self.card.owner if self.card else ""
        return owner if owner.startswith("benchsuite.") else Path(owner).name

    @cached_property
    def results(self) -> list[Result]:
        """Every number of it that is published or measured."""
        cells = [(one, cell) for one in self.rows for cell in one.row.cells]
        return [(one, cell) for one, cell in cells if cell.n or cell.source]

    @property
    def by_scale(self) -> Mapping[str, list[Result]]:
        """Its results at each scale."""
        found: dict[str, list[Result]] = {}
        for one, cell in self.results:
            found.setdefault(one.view.request.scale, []).append((one, cell))
        return found


@dataclass(frozen=True)
class Leaderboard:
    """Stored runs, and the tables that asked for them."""

    contents: Contents
    views: Sequence[TableView]
    ranks: Ranks
    """Reads the ranks beside a record."""
    problems: Sequence[str] = ()
    """What is there but could not be shown, with the reason."""
    _setup_texts: dict[str, str] = field(default_factory=dict)

    @property
    def records(self) -> Mapping[str, Record]:
        """All runs that can be trusted."""
        return self.contents.records

    def prepare(self) -> None:
        """Compute now what many pages show, so that pages that are made side by side need not each do it."""
        _ = self._verdicts, self.costs, self.appearances, self.methods

    @cached_property
    def claims(self) -> Mapping[str, list[JudgedClaim]]:
        """By table and scale: its claims, judged as one family."""
        return {view.request.name: judged_claims(view) for view in self.views}

    @cached_property
    def _verdicts(self) -> Mapping[tuple[str, RowKey, str], list[JudgedClaim]]:
        found: dict[tuple[str, RowKey, str], list[JudgedClaim]] = {}
        for name, judged in self.claims.items():
            for one in judged:
                found.setdefault((name, one.claim.row, one.claim.column.key), []).append(one)
        return found

    def orders(self, view: TableView) -> list[ColumnAgreement]:
        """How far the rows stand in the published order, where there is one."""
        return [one for one in agreements(view) if one.agreement.tau is not None]

    def figures(self, view: TableView) -> list[Figure]:
        """The pictures of a table."""
        return table_figures(view, self.ranks)

    def counted(self, view: TableView, row: TableRow, cell: Cell) -> Counter[str]:
        """How many claims on a number have which verdict."""
        return Counter(
            one.verdict.kind for one in self._verdicts.get((view.request.name, row.key, cell.column.key), ())
        )

    def verdict_counts(self, views: Sequence[TableView]) -> Counter[str]:
        """How many claims of these tables have which verdict."""
        return Counter(one.verdict.kind for view in views for one in self.claims[view.request.name])

    def runs_of(self, view: TableView) -> list[Record]:
        """The runs that fill a table, each once."""
        return list({record.run_id: record for row in view.rows for record in row.records}.values())

    @staticmethod
    def setups_of(rows: Sequence[TableRow]) -> list[str]:
        """The setups that rows were measured under."""
        return list(dict.fromkeys(record.setup_id for row in rows for record in row.records))

    @cached_property
    def scales(self) -> list[str]:
        """Scales of the tables."""
        return list(dict.fromkeys(view.request.scale for view in self.views))

    @cached_property
    def setups(self) -> set[str]:
        """All that differ."""
        return {record.setup_id for record in self.records.values()}

    @cached_property
    def seeds(self) -> int:
        """How many different ones."""
        return len({record.seed for record in self.records.values()})

    @cached_property
    def by_paper(self) -> Mapping[tuple[str, str], list[TableView]]:
        """The tables of each paper at each scale."""
        found: dict[tuple[str, str], list[TableView]] = {}
        for view in self.views:
            found.setdefault((view.table.paper, view.request.scale), []).append(view)
        return found

    @property
    def papers(self) -> list[str]:
        """Papers with any table here."""
        return list(dict.fromkeys(paper for paper, _ in self.by_paper))

    @cached_property
    def boards(self) -> list[Board]:
        """Methods against tasks, a board a setup."""
        return boards(self.records.values(), self.contents.requests)

    @cached_property
    def costs(self) -> Mapping[str, Mapping[str, Cost]]:
        """By setup and row of its board."""
        return {board.setup_id: costs(board) for board in self.boards}

    @cached_property
    def appearances(self) -> Mapping[str, list[Appearance]]:
        """By run: the rows that it fills."""
        found: dict[str, list[Appearance]] = {}
        for view in self.views:
            for row in view.rows:
                for record in row.records:
                    found.setdefault(record.run_id, []).append(Appearance(view, row))
        return found

    @cached_property
    def methods(self) -> Mapping[str, MethodSummary]:
        """Every method that a row or a run is of, by name."""
        cards = methods.cards()
        records: dict[str, list[Record]] = {}
        for record in self.records.values():
            records.setdefault(record.method.name, []).append(record)
        rows: dict[str, list[Appearance]] = {}
        for view in self.views:
            for row in view.rows:
                if row.method:
                    rows.setdefault(row.method, []).append(Appearance(view, row))
        return {
            name: MethodSummary(
                name,
                cards[name].title if name in cards else records[name][0].method.title if name in records else name,
                cards.get(name),
                records.get(name, []),
                rows.get(name, []),
            )
            for name in sorted({*records, *rows})
        }

    def cost(self, board: Board, standing: BoardRow) -> Cost:
        """What a row of a board costs."""
        return self.costs[board.setup_id][standing.label]

    def costs_of(self, method: MethodSummary) -> list[tuple[Board, BoardRow, Cost]]:
        """The costs of a method's configurations, on each board."""
        rows = [(board, one) for board in self.boards for one in board.rows if one.method == method.name]
        return [(board, one, self.cost(board, one)) for board, one in rows]

    def repeat(self, shown: Appearance, record: Record) -> str:
        """What to type to measure a run again, where it does not count as measured."""
        request, row = shown.view.request, shown.row
        place = f"{request.table} --scale {request.scale}"
        return (
            f"benchsuite repro {place} --rows {shlex.quote(row_name(row.key))} --seeds {record.seed}, --results again"
        )

    def stale(self, record: Record) -> str:
        """Whether it was measured with other code than is here."""
        return stale(record)

    def setup_text(self, record: Record) -> str:
        """The setup in full; many runs share one."""
        if record.setup_id not in self._setup_texts:
            self._setup_texts[record.setup_id] = record.setup.model_dump_json(indent=2)
        return self._setup_texts[record.setup_id]
