"""`benchsuite export`: results for a paper, a notebook or a spreadsheet."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from benchsuite.cli.shared.options import RESULTS, AsJson, Plugins, Regimes, Results, Tables, load_own
from benchsuite.cli.shared.terminal import say, say_json_text, say_text
from benchsuite.errors import UsageError
from benchsuite.files import write_named
from benchsuite.folders import tables_in
from benchsuite.harmless import csv_cell
from benchsuite.report.export_options import ExportOptions, Show, Spread

if TYPE_CHECKING:
    from pandas import DataFrame


Format = Literal["csv", "json", "latex", "md", "parquet", "croissant"]


def export(
    table: Annotated[str | None, typer.Argument(help="The table, as paper/table.", metavar="PAPER/TABLE")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All runs instead of one table: a row for each run and metric.")
    ] = False,
    as_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Of a table csv, json, latex or md (default); of all runs csv (default), parquet, or croissant: a "
            "folder with the CSV file and its description for search engines.",
        ),
    ] = None,
    as_json: AsJson = False,
    scale: Annotated[
        str | None, typer.Option(help="The recipe's scale, of a table (default: features, or small).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a file (croissant: a folder) instead of printing.", metavar="FILE")
    ] = None,
    show: Annotated[Show, typer.Option(help="Which numbers of a table.")] = "both",
    spread: Annotated[
        Spread | None,
        typer.Option(
            help="Spread of our numbers: ci, half-width of the 95% CI (default; csv has all); sd, standard deviation; "
            "se, standard error."
        ),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option(
            help="Decimals of our numbers in latex and md (default: 1 of percentages, 3 of other numbers).",
            min=0,
            max=9,
        ),
    ] = None,
    regime: Regimes = None,
    results: Results = RESULTS,
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """Export a measured table with the ranks and marks of its page, or all runs as one data frame."""
    from benchsuite.analysis.results import ResultsFolder, find_view, results_frame
    from benchsuite.papers import named_tables
    from benchsuite.report.croissant import FILE, croissant
    from benchsuite.report.export import FORMATS

    if everything == bool(table):
        raise UsageError("name one table, or give --all for all runs.")
    if everything and (scale or regime or spread or digits is not None or show != "both"):
        raise UsageError(
            "--all is of all runs as they are: --scale, --regime, --show, --spread and --digits are for one table."
        )
    if as_json and as_ not in (None, "json"):
        raise UsageError(f"--json and --format {as_}: give one of them.")
    formats = ("csv", "parquet", "croissant") if everything else tuple(FORMATS)
    format_ = "json" if as_json else as_ or ("csv" if everything else "md")
    if format_ not in formats:
        what = "all runs are" if everything else "a table is"
        raise UsageError(f"--format {format_}: {what} exported as {', '.join(formats[:-1])} or {formats[-1]}.")
    if format_ == "parquet" and out is None:
        raise UsageError("--format parquet is not text: name a file with --out results.parquet.")
    if format_ == "croissant" and out is None:
        raise UsageError("--format croissant is two files: name a folder with --out FOLDER.")
    options = ExportOptions(show, spread, digits)
    load_own(tables, plugin)
    if table:
        named_tables([table], stored=tables_in(results))
    read = ResultsFolder.existing(results, table or "temo/table1")
    if table:
        view = find_view(read.views, table, scale, results, regime)
        text = FORMATS[format_](view, options)
        write_text(text, f"{table} at scale {view.asked.at}", out, is_json=format_ == "json")
    else:
        frame = results_frame(read.contents, read.views)
        about = f"{frame.run_id.nunique()} runs, {len(frame)} rows, {len(frame.columns)} columns"
        if format_ == "parquet" and out:
            write_named(out, "--out", frame.to_parquet(index=False))
            say(f"{about}: {out.resolve()}")
        elif format_ == "croissant" and out:
            content = harmless_texts(frame).to_csv(index=False).encode()
            write_named(out / "results.csv", "--out", content)
            write_named(out / FILE, "--out", croissant(frame, "results.csv", content).encode())
            say(f"{about}: {out.resolve()}")
        else:
            write_text(harmless_texts(frame).to_csv(index=False), about, out)
    read.require_whole()


def harmless_texts(frame: "DataFrame") -> "DataFrame":
    """The frame with texts that no spreadsheet computes; numbers are the same."""
    texts = frame.select_dtypes(exclude=["number", "bool", "boolean"])
    changed = {str(name): column.map(csv_cell, na_action="ignore") for name, column in texts.items()}
    return frame.assign(**changed).rename(columns=csv_cell)


def write_text(text: str, about: str, out: Path | None, is_json: bool = False) -> None:
    """To a file, or to the terminal."""
    if out:
        write_named(out, "--out", text.encode())
        say(f"{about}: {out.resolve()}")
    else:
        say_json_text(text) if is_json else say_text(text)
