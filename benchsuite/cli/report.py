"""`benchsuite report`: pages from stored records."""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.options import REPORTS, RESULTS, Results
from benchsuite.errors import BenchsuiteError, RecordError, UsageError
from benchsuite.records.contents import Contents
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from benchsuite.analysis.table import TableView


def report(
    results: Results = RESULTS,
    folder: Annotated[Path, typer.Option("--report", help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
) -> None:
    """Write the pages of all tables measured into a results folder."""
    from benchsuite.report.html import write_site

    if not results.is_dir():
        raise UsageError(
            f"results folder {results} does not exist. Run `benchsuite repro temo/table1` first, or name another."
        )
    contents = Store(results).read()
    views, left_out = build_views(contents)
    pages = write_site(folder, views)
    print(f"{len(views)} tables, {len(pages)} pages: {pages[0].resolve()}")
    for file in contents.foreign:
        print(f"{file}: not a record; left alone.", file=sys.stderr)
    require_all(left_out)


def build_views(contents: Contents) -> "tuple[list[TableView], list[BenchsuiteError]]":
    """The tables that were asked for, as far as they are measured; and all that could not be shown."""
    from benchsuite.analysis.table import build_table
    from benchsuite.papers import read_table

    views: list[TableView] = []
    left_out: list[BenchsuiteError] = [*contents.errors]
    read, gaps = cache(read_table), contents.gaps
    for asked in contents.asked:
        try:
            view = build_table(read(asked.table), asked, contents.records, gaps)
            require_numbers(view)
            views.append(view)
        except BenchsuiteError as error:
            left_out.append(error)
    return views, left_out


def require_numbers(view: "TableView") -> None:
    """Numbers are read when a page asks for them; ask now, so that a record without one spares the other tables."""
    for row in view.rows:
        for cell in row.cells:
            _ = cell.values


def require_all(left_out: Sequence[BenchsuiteError]) -> None:
    """End with 1, naming each file, if anything was left out of what was shown."""
    if left_out:
        raise RecordError("\n  ".join(["left out, all else is shown:", *map(str, left_out)]))
