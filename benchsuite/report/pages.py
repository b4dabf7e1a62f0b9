"""Every page of the site: its name, and what its template shows."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from benchsuite.analysis.against import decisions, outcomes, principal, reference
from benchsuite.analysis.boards import Board, comparison, paired
from benchsuite.analysis.judged_claims import JudgedClaim
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.second_laboratory import agreement, agreement_by_scale
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import Kind
from benchsuite.folders import built_in_tables
from benchsuite.grouping import by_key
from benchsuite.papers.claim import headline_claims
from benchsuite.papers.schema import RowKey
from benchsuite.records.requests import REGIMES
from benchsuite.registry import datasets, embeddings, methods, tasks
from benchsuite.report import items, method_lines, method_page, track_page
from benchsuite.report.claim_lines import forests, matrix, untested
from benchsuite.report.export import FORMATS, SUFFIXES
from benchsuite.report.export_options import DEFAULT
from benchsuite.report.figures.from_table import table_figures
from benchsuite.report.figures.model import distinct
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import slug
from benchsuite.report.origin import REAL, Origin, citation, data_of
from benchsuite.report.overview import headlines, headlines_at, overviews

KINDS = get_args(Kind)
"""Verdicts in the order in which pages list them."""

Values = Mapping[str, Any]
"""What a template shows, by name."""


@dataclass(frozen=True)
class Page:
    """A page before it is written: its name is its path in the site, without `.html`."""

    name: str
    title: str
    template: str
    values: Callable[[], Values]
    """Not computed before the page is written."""


def all_pages(leaderboard: Leaderboard) -> Iterator[Page]:
    """The home page first."""

    def page(name: str, title: str, template: str, values: Callable[..., Values], *subject: Any) -> Page:

        return Page(name, title, template, lambda: {"leaderboard": leaderboard, **values(leaderboard, *subject)})

    yield page("index", "Leaderboard", "home.html", home)
    for views in leaderboard.by_place.values():
        title = f"{views[0].asked.table}: {views[0].table.title} ({where(views)})"
        yield page(table_page(views[0]), title, "table.html", table, views)
        if items.asked_of(views):
            title = f"Single queries of {views[-1].asked.table} ({where(views[-1:])})"
            yield page(items_page(views[0]), title, "items.html", items.values, views)
    for name, method in leaderboard.methods.items():
        yield page(page_name("methods", name), f"Method {method.title}", "method.html", method_page.values, method)
    for (paper, scale), views in leaderboard.by_paper.items():
        title = f"Claims of {paper} ({', '.join(filter(None, (scale, stand_ins(views))))})"
        yield page(page_name("claims", f"{paper}-{scale}"), title, "claims.html", claims, paper, scale, views)
    for scale, views in leaderboard.by_scale.items():
        yield page(page_name("tracks", scale), f"Track {scale}", "track.html", track_page.values, scale, views)
    for board in leaderboard.boards:
        yield page(compare_page(board), f"Compare on {board.title}", "compare.html", compare, board)


def home(leaderboard: Leaderboard) -> Values:
    """What was measured, and where to look."""
    records = leaderboard.records.values()
    return {
        "headlines": headlines(leaderboard),
        "agreement": agreement(leaderboard.again),
        "agreement_by_scale": agreement_by_scale(leaderboard.again),
        "origin": Origin.of(leaderboard.views),
        "overviews": overviews(leaderboard),
        "papers": [
            (paper, scale, stand_ins(views), headlines_at(leaderboard, scale, views).outcomes)
            for (paper, scale), views in leaderboard.by_paper.items()
        ],
        "measured_on": stand_ins(leaderboard.views),
        "tables": [
            (views, headlines_at(leaderboard, views[0].asked.scale, views).outcomes, of_added(leaderboard, views[-1]))
            for views in leaderboard.by_place.values()
        ],
        "seeds": len({record.seed for record in records}),
        "setups": len({record.setup_id for record in records}),
    }


def rows_by_backbone(views: Sequence[TableView]) -> Mapping[str, list[list[TableRow]]]:
    """The rows that were asked for in any regime, each as every view has it."""
    every = {row.key: row for view in views for row in view.rows}
    order = list(dict.fromkeys([*(row.key for row in views[0].table.rows), *every]))
    found: dict[str, list[list[TableRow]]] = {}
    for key in sorted(every, key=order.index):
        row = every[key]
        each = [view.row(key) or row.without_runs(f"not run {REGIMES[view.asked.regime]}") for view in views]
        found.setdefault(row.backbone, []).append(each)
    return found


def table(leaderboard: Leaderboard, views: Sequence[TableView]) -> Values:
    """One table at one scale, in one regime or as printed and tuned; the last one leads."""
    view = views[-1]
    added = leaderboard.added[view.asked.name]
    claims = leaderboard.claims[view.asked.name]
    marks: defaultdict[tuple[RowKey, str], Counter[str]] = defaultdict(Counter)
    for claim in (one for one in (*claims, *added) if one.claim.headline):
        marks[claim.claim.row, claim.claim.column.key][claim.verdict.kind] += 1
    figures = [(view.asked.regime, figure) for view in views for figure in table_figures(view)]
    if len(views) > 1:
        figures = [(regime, replace(one, title=f"{one.title}, {REGIMES[regime]}")) for regime, one in figures]
    return {
        "view": view,
        "views": views,
        "beside": views[0] if len(views) > 1 else None,
        "rows_by_backbone": rows_by_backbone(views),
        "regimes": regimes(views),
        "claims": claims,
        "headlines": headlines_at(leaderboard, view.asked.scale, views),
        "family_size": headline_claims([view.table, *view.siblings]),
        "corrected": corrected_for(claims),
        "explored": {
            REGIMES[view.asked.regime]: matrix(view, (one for one in found if not one.claim.headline))
            for view in views
            if (found := leaderboard.claims[view.asked.name])
        },
        "added_forests": forests((view, claim) for claim in added),
        "origin": Origin.of(views),
        "citation": citation,
        "leading": bool(figures and view.table.plots),
        "added": [(view, claim) for claim in added],
        "of_added": of_added(leaderboard, view),
        "marks": marks,
        "differences": view.setting.measures.keys() - view.setting.stand_ins.keys(),
        "figures": distinct([figure for _, figure in figures]),
        "exports": {
            view.asked.name: {name: export(view, DEFAULT) for name, export in FORMATS.items()} for view in views
        },
        "suffixes": SUFFIXES,
    }


def claims(leaderboard: Leaderboard, paper: str, scale: str, views: Sequence[TableView]) -> Values:
    """All claims of a paper, as judged at one scale."""
    every = [(view, claim) for view in views for claim in leaderboard.claims[view.asked.name]]
    every.sort(key=lambda pair: not pair[1].claim.headline)
    tested = [pair for pair in every if pair[1].gain is not None]
    listed = [(view, one) for view, one in tested if one.claim.headline]
    not_tested, others = untested(claim for _, claim in every)
    return {
        "claims": every,
        "statements": list(dict.fromkeys(said for _, one in every if (said := one.claim.said))),
        "listed": listed,
        "further": len(tested) - len(listed),
        "not_tested": not_tested,
        "others": others,
        "paper": paper,
        "scale": scale,
        "source": next((view.table.source for view in views if view.table.source), paper),
        "measured_on": stand_ins(views),
        "views": views,
        "interest": {name: difference for view in views for name, difference in interests(view)},
        "family_size": headline_claims([views[0].table, *views[0].siblings]),
        "corrected": corrected_for(one for _, one in every),
        "unrun": {
            one.name: count
            for one in views[0].siblings
            if one.name not in {view.asked.table for view in views} and (count := headline_claims([one]))
        },
        "headlines": headlines_at(leaderboard, scale, views),
        "again": [
            one
            for one in leaderboard.again
            if one.first.scale == scale and one.first.claim.table in {view.asked.table for view in views}
        ],
    }


def clusters(view: TableView) -> list[str]:
    """Which groups of training pairs its methods read, in words; none if no method with a run reads any."""
    cards = [methods.card(row.method) for row in view.rows if row.records and row.method in methods]
    if not any("cluster" in card.about.get("needs", ()) for card in cards):
        return []
    every = (
        f"the classes “{one.labels}” of the data"
        if one.labels
        else f"K-means, {one.k} clusters, on embeddings of captions: {_embedding(one.embedding)}"
        for one in (setup.clusters for setup in view.setups.values())
        if one
    )
    return [*dict.fromkeys(every)]


def _embedding(name: str) -> str:
    return embeddings.card(name).title if name in embeddings else name


def corrected_for(claims: Iterable[JudgedClaim]) -> list[int]:
    """For how many comparisons their verdicts were corrected: one number, unless regimes differ."""
    return sorted({one.verdict.family.size for one in claims if one.verdict.family})


def interests(view: TableView) -> Iterator[tuple[str, float]]:
    """The smallest differences of interest: of all fractions of a protocol, or of one measure of it."""
    protocols = view.setting.recipe.all_protocols
    for name, primary in view.setting.primary.items():
        task = protocols[name].task
        whole = task not in tasks or primary.metric in tasks.card(task).about["metrics"]
        yield name if whole else f"{name}.{primary.metric}", primary.difference


def stand_ins(views: Sequence[TableView]) -> str:
    """Whether these tables were measured on stand-ins, as headings say it; "" if none was."""
    kinds = {view.on_stand_ins for view in views}
    if len(kinds) < 2:
        return next(iter(kinds), "")
    return "partly on stand-ins" if "" in kinds else "on stand-ins"


def where(views: Sequence[TableView]) -> str:
    """The scale, the regime, and whether it is one of stand-ins: `small, as printed, on stand-ins`."""
    return ", ".join(filter(None, (views[0].asked.scale, regimes(views), views[-1].on_stand_ins)))


def regimes(views: Sequence[TableView]) -> str:
    """`as printed and tuned`."""
    return " and ".join(REGIMES[view.asked.regime] for view in views)


def of_added(leaderboard: Leaderboard, view: TableView) -> Counter[str]:
    """How many headline comparisons of a table's added rows have which verdict."""
    return Counter(claim.verdict.kind for claim in leaderboard.added[view.asked.name] if claim.claim.headline)


def compare(leaderboard: Leaderboard, board: Board) -> Values:
    """The methods of one board, each against the reference, and any two. Of a method with many rows one stands for it
    where all measures are shown.
    """
    baseline = reference(board) or board.rows[0]
    own = [principal(rows) for rows in by_key((row.method, row) for row in board.rows).values()]
    beside = [(row, reference(board, row) or baseline) for row in own]
    found = leaderboard.comparisons[board.setup_id]
    pairs = [
        (row, base, task, paired(board, row, base, task))
        for task in board.tasks
        for row, base in beside
        if row is not base
    ]
    first = method_lines.by_gain(method_lines.first_measures(found))
    several = len({one.reference.label for one in found}) > 1
    return {
        "board": board,
        "reference": baseline,
        "against": f"{baseline.record.method.title}, with as many trials" if several else baseline.label,
        "stood": leaderboard.stood[board.setup_id],
        "pairs": [each for each in pairs if each[-1].n],
        "others": len(board.rows) - len(own),
        "data": {**comparison(board), **decisions(board, leaderboard.interest.get(board.setup_id, {}))},
        "verdicts": {(one.row.label, one.task.protocol): one.outcome for one in found},
        "first": first,
        "counts": outcomes(first),
        "unequal": outcomes(method_lines.unequal(first)),
        "outcomes": method_lines.OUTCOMES,
        "forests": method_lines.forests,
    }


def command(view: TableView) -> str:
    """The command that measures a table with all its seeds. One that is not built in lies in a folder, the results
    folder for one, as do real data."""
    numbers = {record.seed for record in view.runs}
    seeds = f" --replicates {len(numbers)}" if len(numbers) > 1 and numbers == {*range(len(numbers))} else ""
    table, scale = map(shlex.quote, (view.asked.table, view.asked.scale))
    folder = "" if view.asked.table in built_in_tables() else " --tables FOLDER"
    names = sorted({record.setup.data.name for record in view.runs if data_of(record) == REAL})
    files = [name for name in names if datasets.card(name).about.get("download")]
    data = "".join(f" --data {shlex.quote(f'{name}=FOLDER')}" for name in files)
    used = {record.method.name for record in view.runs}
    own = any(name not in methods or not methods.card(name).built_in for name in used)
    rule = view.setting.recipe.tuning
    usual = rule and view.asked.trials == rule.count(view.asked.regime, None)
    searches = f" --trials {view.asked.trials}" if rule and not usual else ""
    # a recipe that says how to search runs both regimes unless one is asked for
    regime = f" --regime {view.asked.regime}" if rule or view.asked.regime == "tuned" else ""
    more = f"{regime}{searches}{folder}{' --plugin FILE' * own}{data}{seeds}"
    return f"benchsuite repro {table} --scale {scale}{more}"


def commands(views: Sequence[TableView]) -> list[str]:
    """The command that measures a table in all its regimes, or one for each where they were asked for otherwise."""
    lines = {view.asked.regime: command(view) for view in views}
    joined = {line.replace(f"--regime {regime}", "--regime both") for regime, line in lines.items()}
    return list(joined if len(views) > len(joined) else lines.values())


def page_name(folder: str, *names: str) -> str:
    """`tables/temo-table1-small`, `methods/temo`."""
    return "/".join([folder, *map(slug, names)])


def table_page(view: TableView) -> str:
    """The page of a table at a scale, in both regimes."""
    return page_name("tables", "-".join(view.asked.place).replace("/", "-"))


def items_page(view: TableView) -> str:
    """The page of a table's single queries."""
    return table_page(view).replace("tables/", "items/", 1)


def compare_page(board: Board) -> str:
    """The page of a board."""
    return page_name("compare", board.setup_id)
