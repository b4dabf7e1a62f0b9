"""`benchsuite report`: pages from stored records."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.options import REPORTS, RESULTS, Results
from benchsuite.errors import BenchsuiteError, RecordError, UsageError
from benchsuite.records.contents import Contents
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from benchsuite.analysis.tables import TableView
    from benchsuite.report.leaderboard import Leaderboard


def report(
    results: Results = RESULTS,
    folder: Annotated[Path, typer.Option("--report", help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
    single_file: Annotated[
        Path | None,
        typer.Option(help="Write one HTML file instead, to be mailed; without the pages of runs.", metavar="FILE"),
    ] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Show the pages at an address of this machine only.")] = False,
    port: Annotated[
        int, typer.Option(help="Where --serve listens; 0 takes any that is free.", min=0, max=65535)
    ] = 8000,
) -> None:
    """Write the leaderboard's pages, from all that was measured into a results folder."""
    from benchsuite.analysis.tables import build_views
    from benchsuite.report.site import write_single, write_site

    if not results.is_dir():
        raise UsageError(
            f"results folder {results} does not exist. Run `benchsuite repro temo/table1` first, or name another."
        )
    if single_file and serve:
        raise UsageError("--single-file writes a file to open as it is; --serve shows a folder. Choose one.")
    contents = Store(results).read()
    views, left_out = build_views(contents)
    board = leaderboard(results, contents, views, left_out)
    if single_file:
        print(f"{len(views)} tables in one file: {write_single(single_file, board).resolve()}")
    else:
        site = write_site(folder, board, show_progress)
        print(f"{len(views)} tables, {len(contents.records)} runs, {site.pages} pages: {site.index.resolve()}")
    for file in contents.foreign:
        print(f"{file}: not a record; left alone.", file=sys.stderr)
    if serve:
        show(folder, port)
    require_all(left_out)


def leaderboard(
    results: Path, contents: Contents, views: "Sequence[TableView]", left_out: Sequence[BenchsuiteError]
) -> "Leaderboard":
    """What the site shows of a results folder."""
    from benchsuite.records.ranks import read_ranks
    from benchsuite.report.leaderboard import Leaderboard

    return Leaderboard(contents, views, lambda record: read_ranks(results, record), [str(one) for one in left_out])


def show(folder: Path, port: int) -> None:
    """Serve the pages until Ctrl-C."""
    from benchsuite.report.serve import page_server

    with page_server(folder, port) as server:
        print(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def show_progress(done: int, of: int) -> None:
    """Progress, where somebody is looking and there is something to wait for."""
    if sys.stderr.isatty() and of > 200:
        print(f"\r{done} of {of} pages", end="\n" if done == of else "", file=sys.stderr, flush=True)


def require_all(left_out: Sequence[BenchsuiteError]) -> None:
    """End with 1, naming each file, if anything was left out of what was shown."""
    if left_out:
        raise RecordError("\n  ".join(["left out, all else is shown:", *map(str, left_out)]))
