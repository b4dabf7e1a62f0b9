"""Which figures of all results, of a table or of a method `plot` can save, by name."""

from collections.abc import Collection, Mapping, Sequence

from benchsuite.analysis.table_view import TableView
from benchsuite.errors import UnknownError, UsageError
from benchsuite.report.figures.from_claims import claims_figures, difference_figures, survey_figures
from benchsuite.report.figures.from_table import table_figures
from benchsuite.report.figures.from_trials import sensitivity_figures
from benchsuite.report.figures.model import Figure, Forest, distinct
from benchsuite.report.leaderboard import Leaderboard, MethodSummary
from benchsuite.report.overview import headlines

Figures = dict[str, Figure | Forest]


def plots_of_survey(leaderboard: Leaderboard, about: str) -> Figures:
    """The pictures of the first page, by scale in its order."""
    return _named([figure for group in headlines(leaderboard) for figure in survey_figures(group, about)])


def plots_of_table(leaderboard: Leaderboard, view: TableView) -> Figures:
    """A table's figures by name: its claims, and what its page shows."""
    claims = [*leaderboard.claims[view.asked.name], *leaderboard.added[view.asked.name]]
    return _named([*claims_figures(view, claims), *table_figures(view)])


def added_rows_of_table(leaderboard: Leaderboard, view: TableView) -> Figures:
    """The claims of the rows that a table does not have, beside its reference."""
    return _named(claims_figures(view, leaderboard.added[view.asked.name], "Added rows"))


def plots_of_method(leaderboard: Leaderboard, method: MethodSummary, setups: Collection[str] = ()) -> Figures:
    """A method's differences to the reference, with `setups` under these alone; then how sensitive it is."""
    found = [one for one in leaderboard.against(method.name) if not setups or one.board.setup_id in setups]
    own = difference_figures(method.name, method.title, found)
    return _named([*own, *sensitivity_figures(method.name, leaderboard.contents.trials, leaderboard.views)])


def chosen(figures: Mapping[str, Figure | Forest], name: str | None, subject: str) -> Figure | Forest:
    """The named figure, or the first."""
    if not figures:
        raise UsageError(f"{subject} has nothing to draw: no runs to compare.")
    if name and name not in figures:
        raise UnknownError("figure", name, figures, f"{subject}: ")
    return figures[name] if name else next(iter(figures.values()))


def _named(figures: Sequence[Figure | Forest]) -> Figures:
    return {figure.slug: figure for figure in distinct(figures)}
