"""Every page of the site: what it is called, and what its template shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchsuite.analysis.boards import Board, comparison, paired
from benchsuite.analysis.costs import reference
from benchsuite.analysis.tables import TableView
from benchsuite.records.names import stem
from benchsuite.records.schema import Record
from benchsuite.report import numbers
from benchsuite.report.export import FORMATS, SUFFIXES
from benchsuite.report.figures import method_figures
from benchsuite.report.figures.cost import cost_figures
from benchsuite.report.leaderboard import Leaderboard, MethodSummary, Result
from benchsuite.report.links import slug

KINDS = ("reproduced", "opposite", "undecided", "not comparable", "not run")
"""Verdicts in the order in which pages list them."""
RESULTS = 1_500
"""Numbers of a method that its own page lists; where there are more, each scale's are on a page of their own."""
BOARDS = 20
"""Boards in full on the home page, those with most runs; the others are on the pages that compare their methods."""


@dataclass(frozen=True)
class Page:
    """A page before it is written: its name is its place in the site, without `.html`."""

    name: str
    title: str
    template: str
    values: Callable[[], Mapping[str, Any]]
    """What the template shows; not computed before the page is written."""


def all_pages(board: Leaderboard) -> Iterator[Page]:
    """The home page first."""
    yield home_page(board)
    for view in board.views:
        yield table_page(board, view)
    for method in board.methods.values():
        yield method_page(board, method)
        for scale, results in method.by_scale.items() if many(method) else ():
            yield results_page(board, method, scale, results)
    for (paper, scale), views in board.by_paper.items():
        yield claims_page(board, paper, scale, views)
    for one in board.boards:
        yield compare_page(board, one)
    for record in board.records.values():
        yield run_page(board, record)


def home_page(board: Leaderboard) -> Page:
    """What was measured, and where to look."""
    return Page("index", "Leaderboard", "home.html", lambda: {"board": board, "kinds": KINDS, "full": BOARDS})


def table_page(board: Leaderboard, view: TableView) -> Page:
    """One table at one scale."""

    def values() -> Mapping[str, Any]:
        return {
            "board": board,
            "view": view,
            "claims": [(view, one) for one in board.claims[view.request.name]],
            "counts": board.verdict_counts([view]),
            "kinds": KINDS,
            "orders": board.orders(view),
            "figures": board.figures(view),
            "exports": {name: FORMATS[name](view) for name in FORMATS},
            "suffixes": SUFFIXES,
            "units": numbers.units(view),
            "command": command(view),
        }

    return Page(table_name(view), f"{view.table.title} ({view.request.scale})", "table.html", values)


def method_page(board: Leaderboard, method: MethodSummary) -> Page:
    """What a method says of itself, and what was measured of it."""

    def values() -> Mapping[str, Any]:
        return {"board": board, "method": method, "many": many(method), "figures": method_figures(method.records)}

    return Page(method_name(method.name), method.title, "method.html", values)


def many(method: MethodSummary) -> bool:
    """Whether it has more results than its page can hold."""
    return len(method.results) > RESULTS


def results_page(board: Leaderboard, method: MethodSummary, scale: str, results: Sequence[Result]) -> Page:
    """The results of a method at one scale, where it has too many for its own page."""

    def values() -> Mapping[str, Any]:
        return {"board": board, "method": method, "scale": scale, "results": results}

    return Page(results_name(method.name, scale), f"{method.title} ({scale})", "results.html", values)


def claims_page(board: Leaderboard, paper: str, scale: str, views: Sequence[TableView]) -> Page:
    """All that a paper claims, as judged at one scale."""

    def values() -> Mapping[str, Any]:
        return {
            "board": board,
            "paper": paper,
            "scale": scale,
            "source": next((view.table.source for view in views if view.table.source), paper),
            "judged": [(view, one) for view in views for one in board.claims[view.request.name]],
            "counts": board.verdict_counts(views),
            "kinds": KINDS,
        }

    return Page(claims_name(paper, scale), f"Claims of {paper} ({scale})", "claims.html", values)


def compare_page(board: Leaderboard, one: Board) -> Page:
    """The methods of one board, seed by seed."""

    def values() -> Mapping[str, Any]:
        beside = reference(one) or one.rows[0]
        lines = [
            (standing, task, paired(one, standing, beside, task))
            for task in one.tasks
            for standing in one.rows
            if standing is not beside
        ]
        return {
            "board": board,
            "one": one,
            "reference": beside,
            "lines": [line for line in lines if line[2].n],
            "data": comparison(one),
            "figures": cost_figures(one, board.costs[one.setup_id]),
        }

    return Page(compare_name(one.setup_id), f"Compare on {one.title}", "compare.html", values)


def run_page(board: Leaderboard, record: Record) -> Page:
    """One run."""

    def values() -> Mapping[str, Any]:
        return {"board": board, "record": record, "shown_in": board.appearances.get(record.run_id, [])}

    return Page(run_name(record), f"{record.method.title}, seed {record.seed}", "run.html", values)


def table_name(view: TableView) -> str:
    """`tables/temo-table1-small`."""
    return f"tables/{slug(view.request.name)}"


def method_name(method: str) -> str:
    """`methods/temo`."""
    return f"methods/{slug(method)}"


def results_name(method: str, scale: str) -> str:
    """`methods/temo/small`."""
    return f"{method_name(method)}/{slug(scale)}"


def claims_name(paper: str, scale: str) -> str:
    """`claims/temo-small`."""
    return f"claims/{slug(f'{paper}-{scale}')}"


def compare_name(setup_id: str) -> str:
    """`compare/` and the setup."""
    return f"compare/{slug(setup_id)}"


def run_name(record: Record) -> str:
    """As the record's file is called."""
    return f"runs/{slug(stem(record.method.name, record.seed, record.run_id))}"


def command(view: TableView) -> str:
    """What to type to measure the table again."""
    return f"benchsuite repro {view.request.table} --scale {view.request.scale}"
