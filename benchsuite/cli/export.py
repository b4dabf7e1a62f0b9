"""`benchsuite export`: results for a paper, a notebook or a spreadsheet."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.options import RESULTS, Plugins, Results, Tables, load_own
from benchsuite.errors import UsageError
from benchsuite.folders import tables_in
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame


class Format(StrEnum):
    """What results can be written as."""

    csv = "csv"
    json = "json"
    latex = "latex"
    md = "md"
    parquet = "parquet"


def export(
    table: Annotated[
        str | None, typer.Argument(help="The table, as paper/table.", metavar="PAPER/TABLE", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All runs instead of one table: a row for each run and metric.")
    ] = False,
    as_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Of a table csv, json, latex or md (default); of all runs csv (default) or parquet.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[str, typer.Option(help="The recipe's scale, of a table.")] = "small",
    out: Annotated[
        Path | None, typer.Option(help="Write a file instead of printing.", metavar="FILE", show_default=False)
    ] = None,
    results: Results = RESULTS,
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """Export a measured table with the ranks and marks of its page, or all runs as one data frame."""
    from benchsuite.analysis.results import find_view, results_frame
    from benchsuite.analysis.tables import build_views
    from benchsuite.cli.report import require_all, tell_outdated
    from benchsuite.papers import named_tables
    from benchsuite.report.export import FORMATS

    if everything == bool(table):
        raise UsageError("name one table, or give --all for all runs.")
    formats = (Format.csv, Format.parquet) if everything else tuple(Format)[:4]
    format_ = as_ or (Format.csv if everything else Format.md)
    if format_ not in formats:
        what = "all runs are" if everything else "a table is"
        raise UsageError(f"--format {format_}: {what} exported as {', '.join(formats[:-1])} or {formats[-1]}.")
    if format_ is Format.parquet and out is None:
        raise UsageError("--format parquet is not text: name a file with --out results.parquet.")
    load_own(tables, plugin)
    if table:
        named_tables([table], stored=tables_in(results))
    if not results.is_dir():
        raise UsageError(
            f"results folder {results} does not exist. Run `benchsuite repro {table or 'temo/table1'}` first."
        )
    contents = Store(results).read()
    views, skipped = build_views(contents)
    if table:
        write_text(FORMATS[format_](find_view(views, table, scale, results)), f"{table} at scale {scale}", out)
    else:
        write_frame(results_frame(contents, views), format_, out)
    tell_outdated(contents)
    require_all(skipped)


def write_frame(frame: "DataFrame", format_: Format, out: Path | None) -> None:
    """All runs, as `benchsuite.load_results` gives them."""
    about = f"{frame.run_id.nunique()} runs, {len(frame)} rows, {len(frame.columns)} columns"
    if format_ is Format.parquet and out:
        frame.to_parquet(out, index=False)
        print(f"{about}: {out.resolve()}")
    else:
        write_text(frame.to_csv(index=False), about, out)


def write_text(text: str, about: str, out: Path | None) -> None:
    """To a file, or to the terminal."""
    if out:
        out.write_text(text, "utf-8")
        print(f"{about}: {out.resolve()}")
    else:
        print(text, end="")
