"""`benchsuite plot`: a figure of the pages as a file for a paper or for slides."""

from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import RESULTS, Plugins, Regimes, Results, Tables, load_own
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import UnknownError, UsageError, require_known


def plot(
    subject: Annotated[
        str | None, typer.Argument(help="A table as paper/table, or a method's name.", metavar="PAPER/TABLE|METHOD")
    ] = None,
    survey: Annotated[
        bool, typer.Option("--survey", help="The first page's picture: headline claims, as printed and tuned.")
    ] = False,
    paper: Annotated[str | None, typer.Option(help="Of --survey: one paper's claims (default: all papers').")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write: .pdf, .svg, .png, or .csv for the numbers. Without it, the figures that there are.",
            metavar="FILE",
        ),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            help="Which figure (default: a table's claims, a method's differences to InfoNCE, the first scale).",
            metavar="NAME",
        ),
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="The recipe's scale (default: of a table features, or small; of a method all).")
    ] = None,
    added: Annotated[bool, typer.Option("--added", help="Of a table: only claims of rows that are not in it.")] = False,
    dpi: Annotated[int, typer.Option(help="Dots per inch of a .png.", min=36, max=1200)] = 300,
    regime: Regimes = None,
    results: Results = RESULTS,
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """Save a figure as PDF, SVG or PNG, or its numbers as CSV: claims, what a table's file asks for, a method's
    differences to InfoNCE.

    `benchsuite plot temo/table1 --scale latents --out fig.pdf` draws the table's claims with their intervals,
    `benchsuite plot temo --out fig.pdf` the method beside InfoNCE on every board, and
    `benchsuite plot --survey --out fig.pdf` all headline claims as printed and tuned.
    """
    from benchsuite.analysis.results import ResultsFolder, find_view, in_regime
    from benchsuite.papers import named_tables
    from benchsuite.report.figures.from_claims import chosen, plots_of_method, plots_of_survey, plots_of_table
    from benchsuite.report.leaderboard import Leaderboard

    if (subject is None) != survey:
        raise UsageError("name a table as paper/table or a method, or give --survey.")
    if subject is not None and paper:
        raise UsageError("--paper is for --survey.")
    if survey and (added or regime):
        raise UsageError("--added and --regime are not for --survey, which shows both regimes of the papers' claims.")
    load_own(tables, plugin)
    read = ResultsFolder.existing(results)
    if subject is None:
        papers = list(dict.fromkeys(view.table.paper for view in read.views))
        if paper and paper not in papers:
            raise UnknownError("paper", paper, papers, f"{results}: ")
        shown = [view for view in read.views if paper in (None, view.table.paper) and scale in (None, view.asked.scale)]
        figures, about = plots_of_survey(Leaderboard(read.contents, shown), paper or ", ".join(papers)), f"{results}"
    elif "/" in subject:
        named_tables([subject], stored=read.contents.tables)
        view = find_view(read.views, subject, scale, results, regime)
        board, about = Leaderboard(read.contents, [view]), f"{subject} at scale {view.asked.at}"
        if added and not board.added[view.asked.name]:
            raise UsageError(f"--added: {about} has no rows that are not in the table. `repro --plugin` adds them.")
        figures = plots_of_table(board, view, added)
    else:
        if added:
            raise UsageError("--added is for a table: name one as paper/table.")
        board, there = Leaderboard(read.contents, read.views), in_regime(read.views, regime)
        require_known("method", subject, board.methods, f"{results}: ")
        scales = list(dict.fromkeys(view.asked.scale for view in there))
        if scale and scale not in scales:
            raise UnknownError("scale", scale, scales, f"{results}: ")
        at = [view for view in there if scale in (None, view.asked.scale)]
        figures = plots_of_method(board, board.methods[subject], at if scale or regime else None)
        about = subject
    picture = chosen(figures, figure, about)
    if out:
        from benchsuite.report.figures.saving import save

        save(picture, out, dpi)
        say(f"{picture.title}: {out.resolve()}", picture.caption)
    else:
        say(*(f"{name}: {one.title}" for name, one in figures.items()), "Save one with --figure NAME --out FILE.pdf.")
    read.require_whole()
