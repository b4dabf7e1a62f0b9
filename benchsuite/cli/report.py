"""`benchsuite report`: pages from stored records."""

from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import REPORTS, RESULTS, Plugins, Results, Tables, load_own
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import UsageError


def report(
    results: Results = RESULTS,
    folder: Annotated[Path, typer.Option("--report", help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
    title: Annotated[str | None, typer.Option(help="What the site is called.", metavar="TEXT")] = None,
    text: Annotated[
        str | None, typer.Option(help="Heading of its first page (default: the title).", metavar="TEXT")
    ] = None,
    link: Annotated[str, typer.Option(help="Where its first page links to, such as a repository.", metavar="URL")] = "",
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """Write the leaderboard's pages from the records of a results folder."""
    from benchsuite.analysis.results import ResultsFolder
    from benchsuite.report.leaderboard import Leaderboard, Owner
    from benchsuite.report.numbers import counted
    from benchsuite.report.site import write_site

    if link and not link.startswith(("https://", "http://")):
        raise UsageError(f'--link "{link}": write a whole address, for example https://example.org/board.')
    load_own(tables, plugin)
    read = ResultsFolder.existing(results)
    owner = Owner(title or Owner.title, text or title or Owner.text, link)
    board = Leaderboard.of(read, owner)
    site = write_site(folder, board)
    measured = {view.asked.table for view in read.views}
    numbers = {"table": len(measured), "run": len(read.contents.records), "page": site.pages}
    say(f"{', '.join(counted(n, noun) for noun, n in numbers.items())}: {site.index.resolve()}")
    outside = {record.run_id for one in board.boards for record in one.outside}
    if outside and read.views:
        say(f"{counted(len(outside), 'run')} of no table that was asked for here: pages that compare methods have them")
    for file in read.contents.foreign:
        say(f"{file}: not a record, ignored", error=True)
    read.require_whole()
