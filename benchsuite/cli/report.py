"""`benchsuite report`: pages from stored records."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import (
    REPORTS,
    RESULTS,
    Plugins,
    Results,
    Tables,
    load_own,
)
from benchsuite.cli.shared.results_folder import ResultsFolder
from benchsuite.cli.shared.terminal import say, say_over
from benchsuite.errors import UsageError


def report(
    results: Results = RESULTS,
    folder: Annotated[Path, typer.Option("--report", help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """Write the leaderboard's pages from the records of a results folder."""
    from benchsuite.report.numbers import counted
    from benchsuite.report.site import write_site

    if not results.is_dir():
        raise UsageError(
            f"results folder {results} does not exist. Run `benchsuite repro temo/table1`, or give --results FOLDER."
        )
    load_own(tables, plugin)
    read = ResultsFolder.read(results)
    site = write_site(folder, read.leaderboard(), show_progress)
    numbers = {"table": len(read.views), "run": len(read.contents.records), "page": site.pages}
    say(f"{', '.join(counted(n, noun) for noun, n in numbers.items())}: {site.index.resolve()}")
    for file in read.contents.foreign:
        say(f"{file}: not a record, ignored", error=True)
    read.require_whole()


def show_progress(done: int, of: int) -> None:
    """Print progress on a terminal, where there are pages to wait for."""
    if sys.stderr.isatty() and of > 200:
        say_over(f"{done} of {of} pages", done == of)
