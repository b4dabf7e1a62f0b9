"""`benchsuite report`: pages from stored records."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.options import REPORTS, RESULTS, Results
from benchsuite.errors import UsageError
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
    views = build_views(Store(results))
    pages = write_site(folder, views)
    print(f"{len(views)} tables, {len(pages)} pages: {pages[0].resolve()}")


def build_views(store: Store) -> "list[TableView]":
    """The tables that were asked for, as far as they are measured."""
    from benchsuite.analysis.table import build_table
    from benchsuite.papers import read_table

    records, failures = store.records(), store.failures()
    return [build_table(read_table(asked.table), asked, records, failures) for asked in store.asked()]
