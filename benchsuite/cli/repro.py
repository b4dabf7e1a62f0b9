"""`benchsuite repro`: reproduce a paper's tables and print published numbers beside ours."""

import math
from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.options import (
    REPORTS,
    RESULTS,
    Folders,
    Jobs,
    Plugins,
    Results,
    Tables,
    load_own,
    parse_folders,
    parse_names,
    parse_seeds,
)
from benchsuite.errors import UsageError
from benchsuite.files import require_writable
from benchsuite.papers.schema import names_of, row_name
from benchsuite.records.store import Store

STARTUP_SECONDS = 15
"""Start-up time of a worker."""


def repro(
    tables: Annotated[
        list[str],
        typer.Argument(help="A table (paper/table), a paper (all its tables), or all.", metavar="PAPER/TABLE..."),
    ],
    scale: Annotated[str, typer.Option(help="Scale: which of the table's recipes to use.")] = "small",
    seeds: Annotated[
        str | None, typer.Option(help="How many seeds (3), or which (4,7). Default: the recipe's number.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Only this seed, instead of --seeds.", min=0)] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            help="Rows to run: method, label or backbone/label (default: all). The page also shows earlier runs."
        ),
    ] = None,
    data: Folders = None,
    plugin: Plugins = None,
    table_folders: Tables = None,
    jobs: Jobs = None,
    results: Results = RESULTS,
    report: Annotated[Path, typer.Option(help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan, the estimated time and all problems; run nothing.")
    ] = False,
) -> None:
    """Reproduce tables of papers.

    Stored runs are not repeated: after an interruption, the same command continues. Runs that several tables share are
    executed once. Everything that can be checked is checked before the first step; one problem refuses all runs.
    """
    from benchsuite.analysis.tables import build_views
    from benchsuite.cli.execute import default_jobs, execute, failure
    from benchsuite.cli.progress import show_reading
    from benchsuite.cli.report import leaderboard, require_all, show_progress
    from benchsuite.cli.tables import keep
    from benchsuite.experiments.plan import estimated_seconds, plan_table
    from benchsuite.experiments.preflight import preflight, require_ready
    from benchsuite.papers import named_tables, read_table
    from benchsuite.report.export import table_text
    from benchsuite.report.numbers import counted
    from benchsuite.report.site import write_site

    if seeds is not None and seed is not None:
        raise UsageError("--seed and --seeds exclude each other: give one of them.")
    extra = load_own(table_folders, plugin)
    show_reading()
    names = named_tables(tables, scale)
    labels = {label for name in names for row in read_table(name).rows for label in names_of(row)}
    wanted = parse_seeds(seeds) if seed is None else [seed]
    chosen, folders = (wanted, parse_names(rows, labels)), parse_folders(data)
    plans = [plan_table(name, scale, *chosen, extra, folders) for name in names]
    store = Store(results)
    contents = store.read()
    records, refused = contents.records, contents.refused_runs
    runs = list({run.run_id: run for plan in plans for run in plan.runs}.values())
    missing = [run for run in runs if run.run_id not in {*records, *refused}]
    jobs = jobs or default_jobs(len(missing))
    seconds = estimated_seconds(missing, jobs, records) + STARTUP_SECONDS
    duration = (
        about(seconds) if all(run.estimate for run in missing) else "no estimate (a recipe gives no step_seconds),"
    )
    duration = f"; {duration} with {jobs} in parallel" if missing else ""
    what = names[0] if len(names) == 1 else f"{len(names)} tables"
    n_refused = sum(run.run_id in refused for run in runs)
    print(
        f"{what} at scale {scale}: {counted(len(runs), 'run')}, {len(missing)} to do"
        f"{f', {n_refused} refused' * bool(n_refused)}{duration}."
    )
    checked = preflight(missing, results, jobs)
    for note in checked.notes:
        print(f"note: {note}")
    problems = [*dict.fromkeys(problem for plan in plans for problem in plan.problems), *checked.problems]
    if dry_run:
        for run in runs:
            state = "stored" if run.run_id in records else "refused" if run.run_id in refused else "to do"
            print(f"  {state:<7}  {run.run_id}  {run.label}")
        for plan in plans:
            for row in plan.request.rows:
                if row.not_run:
                    print(f"  not run  {plan.request.table} {row_name(row.key)}: {row.not_run}")
        require_ready(problems)
        return
    require_ready(problems)
    require_writable(report, "--report")
    store.require_writable()
    for line in (line for plan in plans for line in keep(store, plan.request)):
        print(line)
    requested = {store.add_request(plan.request).name for plan in plans}
    failed = execute(missing, store, jobs, plugin or ()) if missing else []
    contents = store.read()
    views, left_out = build_views(contents)
    site = write_site(report, leaderboard(results, contents, views, left_out), show_progress)
    own = [view for view in views if view.request.name in requested]
    if len(names) == 1 and own:
        print(table_text(own[0]))
    for name, page in site.tables.items():
        if name in requested:
            print(f"page:    {page.resolve()}")
    print(f"records: {store.folder.resolve()}")
    if len(names) == 1 and own:
        print(f"verdicts: on the page, or `benchsuite claims {names[0]} --scale {scale} --results {results}`")
    if failed:
        raise failure(failed, len(missing), store.logs, left_out)
    require_all(left_out)


def about(seconds: float) -> str:
    """A rough duration in words."""
    return f"about {math.ceil(seconds)} s" if seconds < 90 else f"about {math.ceil(seconds / 60)} min"
