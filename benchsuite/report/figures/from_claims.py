"""Forest plots for papers: what became of headline claims, what a table's claims ask, and a method beside the
reference on every board.

A figure holds differences of one unit: percentage points and plain numbers have a figure each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from benchsuite.analysis.both_regimes import MEANING
from benchsuite.analysis.judged_claims import JudgedClaim
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import UnknownError, UsageError
from benchsuite.records.requests import REGIMES
from benchsuite.report import links
from benchsuite.report.claim_lines import ClaimLine
from benchsuite.report.figures.from_table import sensitivity_figures, table_figures
from benchsuite.report.figures.model import Comparison, Figure, Forest, distinct
from benchsuite.report.leaderboard import Leaderboard, MethodSummary
from benchsuite.report.method_lines import MethodLine
from benchsuite.report.numbers import seeds_of
from benchsuite.report.overview import Headlines, headlines

FAVOUR = "Difference in favour of the claim"
SUFFIX = {"percent": "", "number": "-in-numbers"}
"""Of a figure's name by unit."""


def survey_figures(group: Headlines, about: str) -> list[Forest]:
    """The picture of the first page: the headline claims at a scale by what became of them, a column for each regime.

    A figure for each unit.
    """
    outcomes = [(outcome, pairs) for fates in group.fates for outcome, pairs in fates.by_outcome.items()]
    lines = [
        [_of_headline(f"{len(pairs)} {name}", line) for line in pair] for name, pairs in outcomes for pair in pairs
    ]
    lines += [[_of_headline("In one regime", line)] for forest in group.forests for line in forest.lines]
    title = f"Headline claims of {about} at scale {group.scale}"
    meaning = "".join(f" {name.capitalize()}: {MEANING[name]}." for name in dict(outcomes))
    figures = _figures(lines, "survey", links.slug(group.scale), title, FAVOUR)
    return [replace(figure, caption=figure.caption + meaning) for figure in figures]


def claims_figures(view: TableView, judged: Sequence[JudgedClaim], name: str = "Claims") -> list[Forest]:
    """Headline claims, then exploratory comparisons: a figure for each unit. Without headline claims all are in one."""
    both = {True: "claims", False: "exploratory"}
    if len({judge.claim.headline for judge in judged}) < 2:
        both = dict.fromkeys(both, "claims")
    figures: list[Forest] = []
    for headline in (True, False):
        lines = [ClaimLine(view, judge) for judge in judged if judge.claim.headline == headline]
        several = len(view.backbones) > 1 or len({line.common for line in lines}) > 1
        what = {"claims": name, "exploratory": "Exploratory comparisons"}[both[headline]]
        where = f"scale {view.asked.at}" + f", {view.on_stand_ins}" * bool(view.on_stand_ins)
        title = f"{what} of {view.asked.table} ({where})"
        shown = [[_of_claim(line, several)] for line in lines]
        figures += _figures(shown, links.slug(f"{view.asked.name} forest"), both[headline], title, FAVOUR)
    return distinct(figures)


def _of_claim(line: ClaimLine, several: bool) -> Comparison:
    """Under its column; with what row and reference have in common where the table's rows differ in it."""
    claim, pair = line.claim, line.judged.verdict.paired
    label = (f"{line.common}: " if several and line.common else "") + " vs. ".join(line.rows)
    same_unit = claim.column.unit == "percent" or isinstance(claim.column.measure, str)
    return Comparison(
        claim.column.name, label, line.judged.verdict.kind, claim.column.unit, line.estimate,
        len(pair.seeds) if pair else 0, claim.published if same_unit else None,
    )  # fmt: skip


def _of_headline(heading: str, line: ClaimLine) -> Comparison:
    """In the column of its regime."""
    label = ", ".join(filter(None, (" vs. ".join(line.rows), line.claim.column.name, line.common)))
    column = REGIMES[line.judged.regime or "printed"]
    return replace(_of_claim(line, several=False), heading=heading, label=label, column=column)


def _figures(lines: Sequence[Sequence[Comparison]], name: str, slug: str, title: str, axis: str) -> Iterator[Forest]:
    """Of lines that have one comparison, or one for each column."""
    headings = list(dict.fromkeys(line[0].heading for line in lines))
    ordered = sorted(lines, key=lambda line: headings.index(line[0].heading))
    for unit, suffix in SUFFIX.items():
        own = [line for line in ordered if line[0].unit == unit]
        if any(one.estimate for line in own for one in line):
            short, said = f"{slug}{suffix}", f"{axis} (percentage points)" if unit == "percent" else axis
            caption = _caption([one for line in own for one in line])
            yield Forest(f"{name}-{short}", short, title, caption, said, unit, own)


def _caption(lines: Sequence[Comparison]) -> str:
    seeds = seeds_of(line.seeds for line in lines if line.seeds)
    said = f"Large marks: means over {seeds}, paired by seed, with 95% CI; small marks: single seeds."
    if any(line.estimate and line.estimate.unconfirmable is not None for line in lines):
        said += " Grey band: differences that these seeds could not have confirmed."
    if any(line.published is not None for line in lines):
        said += " Published: the paper's difference, which may be of other data."
    return said


Figures = dict[str, Figure | Forest]


def plots_of_survey(leaderboard: Leaderboard, about: str) -> Figures:
    """The pictures of the first page, by scale in its order."""
    return _named([figure for group in headlines(leaderboard) for figure in survey_figures(group, about)])


def plots_of_table(leaderboard: Leaderboard, view: TableView, added_alone: bool = False) -> Figures:
    """A table's figures by name: its claims, and what its page shows; or the claims of rows that are not in it."""
    added = leaderboard.added[view.asked.name]
    if added_alone:
        return _named(claims_figures(view, added, "Added rows"))
    return _named([*claims_figures(view, [*leaderboard.claims[view.asked.name], *added]), *table_figures(view)])


def plots_of_method(
    leaderboard: Leaderboard, method: MethodSummary, views: Sequence[TableView] | None = None
) -> Figures:
    """A method's differences to the reference; then how sensitive it is. With `views` those of their runs alone."""
    runs = None if views is None else {record.run_id for view in views for record in view.runs}
    found = [
        one
        for one in leaderboard.against(method.name)
        if runs is None or any(record.run_id in runs for record in one.row.records.values())
    ]
    bases = ", ".join(dict.fromkeys(one.reference.record.method.title for one in found))
    lines = [
        [Comparison(
            f"{one.board.title}: {one.row.label}", f"{one.task.protocol}, {one.task.metric}", one.outcome,
            one.task.unit, MethodLine(one).estimate, len(one.pair.seeds),
        )]
        for one in found
    ]  # fmt: skip
    name, title = f"method-{links.slug(method.name)}", f"{method.title} against {bases}"
    own = _figures(lines, name, "differences", title, f"Difference to {bases}, better is +")
    recipes = None if views is None else {view.setting.name for view in views if view.asked.regime == "tuned"}
    trials = leaderboard.contents.trials
    searched = {name: file for name, file in trials.items() if recipes is None or name in recipes}
    return _named([*own, *sensitivity_figures(method.name, searched, leaderboard.views)])


def chosen(figures: Mapping[str, Figure | Forest], name: str | None, subject: str) -> Figure | Forest:
    """The named figure, or the first."""
    if not figures:
        raise UsageError(f"{subject} has nothing to draw: no runs to compare.")
    if name and name not in figures:
        raise UnknownError("figure", name, figures, f"{subject}: ")
    return figures[name] if name else next(iter(figures.values()))


def _named(figures: Sequence[Figure | Forest]) -> Figures:
    return {figure.slug: figure for figure in distinct(figures)}
