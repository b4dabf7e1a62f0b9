"""`benchsuite export`: a measured table for a paper, a notebook or a spreadsheet."""

from enum import StrEnum
from typing import Annotated

import typer

from benchsuite.cli.options import RESULTS, Results
from benchsuite.errors import UsageError, unknown
from benchsuite.records.store import Store


class Format(StrEnum):
    """What a table can be written as."""

    csv = "csv"
    json = "json"
    latex = "latex"
    md = "md"


def export(
    table: Annotated[str, typer.Argument(help="The table, as paper/table.", metavar="PAPER/TABLE")],
    as_: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.md,
    scale: Annotated[str, typer.Option(help="The recipe's scale.")] = "small",
    results: Results = RESULTS,
) -> None:
    """Print a measured table, published numbers and ours, with the same ranks and marks as its page."""
    from benchsuite.analysis.tables import build_views
    from benchsuite.cli.report import require_all
    from benchsuite.papers import named_tables
    from benchsuite.report.export import FORMATS

    named_tables([table])
    if not results.is_dir():
        raise UsageError(f"results folder {results} does not exist. Run `benchsuite repro {table}` first.")
    found, left_out = build_views(Store(results).read())
    views = {view.request.scale: view for view in found if view.request.table == table}
    if not views:
        raise UsageError(f"{table} is not in {results}. Run `benchsuite repro {table} --scale {scale}` first.")
    if scale not in views:
        raise unknown("scale", scale, views, f"{table} in {results}: ")
    print(FORMATS[as_](views[scale]), end="")
    require_all(left_out)
