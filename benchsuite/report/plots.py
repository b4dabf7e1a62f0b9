"""Which figures of a table or of a method `plot` can save, by name."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.tuned_methods import TunedMethod
from benchsuite.errors import UnknownError, UsageError
from benchsuite.report.figures import method_figures, table_figures
from benchsuite.report.figures.from_claims import claims_figures, difference_figures
from benchsuite.report.figures.from_trials import sensitivity_figures, tuning_figures
from benchsuite.report.figures.model import Figure, distinct
from benchsuite.report.leaderboard import Leaderboard, MethodSummary


def plots_of_table(leaderboard: Leaderboard, view: TableView) -> dict[str, Figure]:
    """A table's figures by name: its claims, what its page shows, and what its methods were tuned with."""
    claims = [*leaderboard.claims[view.request.name], *leaderboard.added[view.request.name]]
    digests = {record.tuned.digest for row in view.rows for record in row.records if record.tuned}
    every = [one for found in leaderboard.tuning.values() for one in found]
    tuning = _tuning([one for one in every if one.digest in digests], every)
    return _named([*claims_figures(view, claims), *table_figures(view, leaderboard.ranks), *tuning])


def added_rows_of_table(leaderboard: Leaderboard, view: TableView) -> dict[str, Figure]:
    """The claims of the rows that a table does not have, beside its reference."""
    return _named(claims_figures(view, leaderboard.added[view.request.name], "Added rows"))


def plots_of_method(leaderboard: Leaderboard, method: MethodSummary, setups: Collection[str] = ()) -> dict[str, Figure]:
    """A method's figures by name: its differences to the reference, its training curves, and its tuning. With `setups`
    differences under these alone."""
    found = [one for one in leaderboard.against(method.name) if not setups or one.board.setup_id in setups]
    every = [one for found in leaderboard.tuning.values() for one in found]
    own = [one for one in every if one.method == method.name]
    differences = difference_figures(method.name, method.title, found)
    return _named([*differences, *method_figures(method.records), *_tuning(own, every)])


def chosen(figures: Mapping[str, Figure], name: str | None, subject: str) -> Figure:
    """The named figure, or the first."""
    if not figures:
        raise UsageError(f"{subject} has nothing to draw: no runs to compare, no curves, no trials.")
    if name and name not in figures:
        raise UnknownError("figure", name, figures, f"{subject}: ")
    return figures[name] if name else next(iter(figures.values()))


def _tuning(shown: list[TunedMethod], every: list[TunedMethod]) -> list[Figure]:
    """The panels of some subjects, on the scales that they have beside the others of their page."""
    figures = []
    for page in dict.fromkeys((one.recipe, one.backbone) for one in shown):
        beside = [one for one in every if (one.recipe, one.backbone) == page]
        curves, panels = tuning_figures(beside), sensitivity_figures(beside)
        for one in shown:
            if one.key in curves and (one.recipe, one.backbone) == page:
                figures += [curves[one.key], *panels[one.key]]
    return [replace(figure, slug=f"tuning-{figure.slug}") for figure in figures]


def _named(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.slug: figure for figure in distinct(figures)}
