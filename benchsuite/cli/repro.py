"""`benchsuite repro`: reproduce a paper's tables and print published numbers beside ours."""

import json
from collections.abc import Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.cluster import MaxJobs, OptionsFile, OptionsGiven, Schedulers, chosen_cluster
from benchsuite.cli.completion import completed
from benchsuite.cli.options import (
    MINUTES,
    REPORTS,
    RESULTS,
    TRACKING,
    AsJson,
    CheckpointMinutes,
    CheckpointSteps,
    DeviceCount,
    Folders,
    Jobs,
    KeepWeights,
    Plugins,
    Regime,
    Regimes,
    Results,
    SkipBadPictures,
    Tables,
    TrackFolder,
    Tracks,
    Workers,
    load_own,
    parse_folders,
    parse_names,
    parse_seeds,
    refuse_inside_launcher,
    require_reported,
    saved_every,
    use_machine,
)
from benchsuite.cli.run import without_weights
from benchsuite.cli.terminal import say, say_json
from benchsuite.errors import UsageError
from benchsuite.files import require_writable

if TYPE_CHECKING:
    from benchsuite.planning.plan import Plan, Run
    from benchsuite.planning.problems import Problem
    from benchsuite.planning.subjects import Subject
    from benchsuite.records.contents import Contents
    from benchsuite.records.schema import Record
    from benchsuite.records.store import Store


def repro(
    tables: Annotated[
        list[str],
        typer.Argument(
            help="A table (paper/table), a paper (all its tables), or all.",
            metavar="PAPER/TABLE...",
            autocompletion=completed("table", "paper", "all"),
        ),
    ],
    scale: Annotated[
        str, typer.Option(help="Scale: which of the table's recipes to use.", autocompletion=completed("scale"))
    ] = "small",
    seeds: Annotated[
        str | None, typer.Option(help="How many seeds (3), or which (4,7). Default: the recipe's number.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Only this seed, instead of --seeds.", min=0)] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            help="Rows to run (default: all): method, label, backbone/label, variant/label or backbone/variant/label. "
            "The page also shows earlier runs.",
            autocompletion=completed("method", several=True),
        ),
    ] = None,
    data: Folders = None,
    plugin: Plugins = None,
    table_folders: Tables = None,
    jobs: Jobs = None,
    cluster: Schedulers = None,
    cluster_options: OptionsFile = None,
    cluster_option: OptionsGiven = None,
    max_jobs: MaxJobs = None,
    devices: DeviceCount = None,
    results: Results = RESULTS,
    checkpoint_minutes: CheckpointMinutes = MINUTES,
    checkpoint_steps: CheckpointSteps = None,
    report: Annotated[Path, typer.Option(help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
    regime: Regimes = None,
    workers: Workers = None,
    skip_bad_pictures: SkipBadPictures = False,
    track: Tracks = None,
    track_dir: TrackFolder = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Do tuning trials that are missing first, as `benchsuite tune` does.")
    ] = False,
    keep_weights: KeepWeights = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan, the estimated time and all problems; run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce tables of papers.

    Stored runs are not repeated: after an interruption, the same command continues. Runs that several tables share are
    executed once. Everything that can be checked is checked before the first step; one problem refuses all runs.
    """
    from benchsuite.cli.execute import duration, execute, failure
    from benchsuite.cli.means import Means
    from benchsuite.cli.progress import show_reading
    from benchsuite.cli.report import items_of, leaderboard, require_all, show_progress
    from benchsuite.cli.tables import keep
    from benchsuite.cli.trials import Work, execute_trials, untuned
    from benchsuite.execution.devices import Devices
    from benchsuite.execution.preflight import require_ready
    from benchsuite.papers import named_tables
    from benchsuite.papers.schema import row_name
    from benchsuite.planning.plan import plan_tables, row_names
    from benchsuite.planning.trial_runs import example_run
    from benchsuite.records.store import Store
    from benchsuite.report.numbers import counted

    refuse_inside_launcher("repro")
    if seeds is not None and seed is not None:
        raise UsageError("--seed and --seeds exclude each other: give one of them.")
    if tune and regime is Regime.printed:
        raise UsageError("--tune and --regime printed exclude each other: rows as printed need no trials.")
    use_machine(workers, skip_bad_pictures, track, track_dir or results / TRACKING)
    chosen_place = chosen_cluster(cluster, cluster_options, cluster_option, max_jobs, jobs)
    every = saved_every(checkpoint_minutes, checkpoint_steps)
    means = Means(Devices.here(devices, jobs), chosen_place, plugin or (), every)
    extra = load_own(table_folders, plugin)
    show_reading()
    names = named_tables(tables, scale)
    wanted = parse_seeds(seeds) if seed is None else [seed]
    require_reported(wanted or [])
    chosen, folders = (wanted, parse_names(rows, row_names(names, scale))), parse_folders(data)
    plan = partial(plan_tables, names, scale, *chosen, extra, folders, regime=regime, results=results, tune=tune)
    plans = plan()
    store = Store(results)
    contents = store.read()
    records, refused = contents.records, contents.refused_runs
    runs, missing = to_do(plans, {*records, *refused}, keep_weights)
    work = Work.of(tuned_by(plans), results)
    jobs_of_runs = means.jobs_for(missing)
    what = names[0] if len(names) == 1 else f"{len(names)} tables"
    n_refused = sum(run.run_id in refused for run in runs)
    to_tune = f", {counted(len(work.to_do), 'tuning trial')} first" if work.to_do else ""
    time = duration([*(trial.run for trial in work.to_do), *missing], jobs_of_runs, {**records, **work.measured})
    say(
        f"{what} at scale {scale}{in_words(plans)}: {counted(len(runs), 'run')}, {len(missing)} to do"
        f"{f', {n_refused} refused' * bool(n_refused)}{to_tune}{time}."
    )
    checked = means.check([*map(example_run, work.lacking), *missing], results)
    for note in checked.notes:
        say(f"note: {note}")
    problems = [*planned_problems(plans), *checked.problems]
    problems += [] if tune else untuned(work, names, scale, plugin or ())
    if dry_run:
        for subject in work.lacking:
            say(f"  to tune  {subject}")
        states = states_of(runs, records, refused)
        for one in states:
            say(f"  {one['state']:<7}  {one['run_id']}  {one['label']}")
        for each in plans:
            for row in each.request.rows:
                if row.not_run:
                    say(f"  not run  {each.request.table} {row_name(row.key)}: {row.not_run}")
        require_ready(problems)
        if as_json:
            say_json({"scale": scale, "runs": states, "to_tune": len(work.to_do)})
        return
    require_ready(problems)
    from benchsuite.analysis.building import build_views
    from benchsuite.report.export import as_json as export_json
    from benchsuite.report.export import table_lines
    from benchsuite.report.site import write_site

    require_writable(report, "--report")
    store.require_writable()
    if work.to_do:
        if failed := execute_trials(work, store, means):
            raise failure(failed, len(work.to_do), store.logs)
        plans = plan()
        runs, missing = to_do(plans, {*records, *refused}, keep_weights)
        checked = means.check(missing, results)
        require_ready([*planned_problems(plans), *checked.problems])
    for line in (line for each in plans for line in keep(store, each.request)):
        say(line)
    requested = {store.add_request(each.request).name for each in plans}
    if bare := [run for run in runs if run.keep_weights and lacks_weights(run.run_id, records)]:
        say(without_weights(len(bare), results))
    failed = execute(missing, runs, store, means) if missing else []
    contents = with_all_seeds(store)
    views, left_out = build_views(contents, items_of(results))
    site = write_site(report, leaderboard(results, contents, views, left_out), show_progress)
    own = [view for view in views if view.request.name in requested]
    if len(names) == 1 and own:
        say(*table_lines(own[0]))
    for name, page in site.tables.items():
        if name in requested:
            say(f"page:    {page.resolve()}")
    say(f"records: {store.folder.resolve()}")
    if len(names) == 1 and own:
        say(f"verdicts: on the page, or `benchsuite claims {names[0]} --scale {scale} --results {results}`")
    if as_json:
        states = states_of(runs, contents.records, contents.refused_runs)
        pages = {name: str(page.resolve()) for name, page in site.tables.items() if name in requested}
        exported = [json.loads(export_json(view)) for view in own]
        say_json({"scale": scale, "runs": states, "tables": exported, "pages": pages})
    if failed:
        raise failure(failed, len(missing), store.logs, left_out)
    require_all(left_out)


def with_all_seeds(store: "Store") -> "Contents":
    """The folder, in which each table now lists every stored seed of its rows, whichever table asked for it."""
    from benchsuite.analysis.request_check import StoredRuns, with_stored_seeds

    contents = store.read()
    stored = StoredRuns.of(contents.records.values())
    grown = [new for request in contents.requests if (new := with_stored_seeds(request, stored)) != request]
    for request in grown:
        store.add_request(request)
    return store.read() if grown else contents


def to_do(plans: "Sequence[Plan]", there: Container[str], keep: bool) -> "tuple[list[Run], list[Run]]":
    """Each run of the plans once, and those that are still to be done. `keep`: also the weights of all of them."""
    runs = list({run.run_id: run for plan in plans for run in plan.runs}.values())
    runs = [run.model_copy(update={"keep_weights": keep or run.keep_weights}) for run in runs]
    return runs, [run for run in runs if run.run_id not in there]


def states_of(runs: "Sequence[Run]", records: Container[str], refused: Container[str]) -> list[dict[str, str]]:
    """Which runs are stored, and which are to be done."""

    def state(run_id: str) -> str:
        return "stored" if run_id in records else "refused" if run_id in refused else "to do"

    return [{"run_id": run.run_id, "state": state(run.run_id), "label": run.label} for run in runs]


def lacks_weights(run_id: str, records: "Mapping[str, Record]") -> bool:
    """Whether a run is stored without its weights."""
    return run_id in records and records[run_id].weights is None


def planned_problems(plans: "Sequence[Plan]") -> "list[Problem]":
    """Each problem of the plans once."""
    return list(dict.fromkeys(problem for plan in plans for problem in plan.problems))


def tuned_by(plans: "Sequence[Plan]") -> "Sequence[Subject]":
    """What the plans' rows are tuned by."""
    from benchsuite.planning.trial_runs import grouped

    return grouped(subject for plan in plans for subject in plan.subjects)


def in_words(plans: "Sequence[Plan]") -> str:
    """The regime, where it is the same for all and there is a choice."""
    regimes = {plan.request.regime for plan in plans}
    return ", tuned" if regimes == {Regime.tuned} else ", some tuned" if Regime.tuned in regimes else ""
