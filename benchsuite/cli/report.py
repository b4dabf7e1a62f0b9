"""`benchsuite report`: pages from stored records."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.options import (
    REPORTS,
    RESULTS,
    Plugins,
    Results,
    Tables,
    load_own,
)
from benchsuite.cli.shared.terminal import say, say_over
from benchsuite.errors import BenchsuiteError, RecordError, UsageError
from benchsuite.records.contents import Contents
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from benchsuite.analysis.items import Items
    from benchsuite.analysis.table_view import TableView
    from benchsuite.report.leaderboard import Leaderboard


def report(
    results: Results = RESULTS,
    folder: Annotated[Path, typer.Option("--report", help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
    single_file: Annotated[
        Path | None,
        typer.Option(help="Write one self-contained HTML file instead, without the pages of runs.", metavar="FILE"),
    ] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Serve the pages on this machine (127.0.0.1).")] = False,
    port: Annotated[int, typer.Option(help="Port of --serve; 0 takes a free one.", min=0, max=65535)] = 8000,
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """Write the leaderboard's pages from the records of a results folder."""
    from benchsuite.analysis.building import build_views
    from benchsuite.report.numbers import counted
    from benchsuite.report.site import write_single, write_site

    if not results.is_dir():
        raise UsageError(
            f"results folder {results} does not exist. Run `benchsuite repro temo/table1`, or give --results FOLDER."
        )
    if single_file and serve:
        raise UsageError("--single-file and --serve: give one of them. A single file opens without a server.")
    load_own(tables, plugin)
    contents = Store(results).read()
    views, left_out = build_views(contents, items_of(results))
    board = leaderboard(results, contents, views, left_out)
    if single_file:
        say(f"{counted(len(views), 'table')} in one file: {write_single(single_file, board).resolve()}")
    else:
        site = write_site(folder, board, show_progress)
        numbers = {"table": len(views), "run": len(contents.records), "page": site.pages}
        say(f"{', '.join(counted(n, noun) for noun, n in numbers.items())}: {site.index.resolve()}")
    tell_outdated(contents)
    for file in contents.foreign:
        say(f"{file}: not a record, ignored", error=True)
    if serve:
        show(folder, port)
    require_all(left_out)


def leaderboard(
    results: Path, contents: Contents, views: "Sequence[TableView]", left_out: Sequence[BenchsuiteError]
) -> "Leaderboard":
    """Everything that the site shows of a results folder."""
    from benchsuite.records.ranks import read_ranks
    from benchsuite.report.leaderboard import Leaderboard

    return Leaderboard(contents, views, lambda record: read_ranks(results, record), [str(error) for error in left_out])


def items_of(results: Path) -> "Items":
    """What each test item added to the runs of a results folder: every command that judges claims needs it."""
    from benchsuite.analysis.items import Items
    from benchsuite.evaluation.rank_metrics import RULES
    from benchsuite.records.ranks import read_ranks

    return Items(lambda record: read_ranks(results, record), RULES)


def tell_outdated(contents: Contents) -> None:
    """Name stored tables that a folder or package has in another version."""
    from benchsuite.verify.stored_tables import outdated

    for finding in outdated(contents.tables):
        say(str(finding), error=True)


def show(folder: Path, port: int) -> None:
    """Serve the pages until Ctrl-C."""
    from benchsuite.report.serve import page_server

    with page_server(folder, port) as server:
        say(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C stops it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("")


def show_progress(done: int, of: int) -> None:
    """Print progress on a terminal, where there are pages to wait for."""
    if sys.stderr.isatty() and of > 200:
        say_over(f"{done} of {of} pages", done == of)


def require_all(left_out: Sequence[BenchsuiteError]) -> None:
    """End with exit code 1 if files were skipped, and name each."""
    if left_out:
        lines = [line for error in left_out for line in error.lines]
        raise RecordError("skipped invalid files:", more=[f"  {line}" for line in lines])
