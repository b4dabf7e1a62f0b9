"""`benchsuite merge`: one results folder added to another."""

from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import RESULTS, Plugins, Results, load_plugins, require_results
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import UsageError


def merge(
    theirs: Annotated[Path, typer.Argument(help="The results folder that is added. It stays as it is.")],
    plugin: Plugins = None,
    results: Results = RESULTS,
) -> None:
    """Add the runs, trials and tables of one results folder to another.

    So runs of two clusters, or of somebody else, become one folder. What both have stays as it is in --results; tables
    get the rows and replicates of both. Nothing is trained, and nothing is written if a file of one of them is invalid.
    """
    from benchsuite.records.merging import merge as merged
    from benchsuite.report.numbers import counted

    load_plugins(plugin)
    require_results(theirs, "Give the one to add, and the other with --results.")
    if theirs.resolve() == results.resolve():
        raise UsageError(f"{theirs} is --results itself. Name the folder to add, and the other one with --results.")
    done = merged(theirs, results)
    both = f"; {counted(done.both, 'run')} of both {'stays' if done.both == 1 else 'stay'} as in {results}" * bool(
        done.both
    )
    say(
        f"{results}: {counted(done.runs, 'run')} and {counted(done.trials, 'trial')} added, "
        f"for {counted(done.tables, 'table')}{both}"
    )
