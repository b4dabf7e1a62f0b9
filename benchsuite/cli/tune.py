"""`benchsuite tune`: give methods the same number of tuning trials."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.cluster import MaxJobs, OptionsFile, OptionsGiven, Schedulers, chosen_cluster
from benchsuite.cli.completion import completed
from benchsuite.cli.options import (
    MINUTES,
    RESULTS,
    AsJson,
    CheckpointMinutes,
    CheckpointSteps,
    DeviceCount,
    Folders,
    Jobs,
    Plugins,
    Results,
    SkipBadPictures,
    Tables,
    Workers,
    load_own,
    parse_folders,
    refuse_inside_launcher,
    saved_every,
    use_machine,
)
from benchsuite.cli.terminal import say, say_json
from benchsuite.errors import UsageError

if TYPE_CHECKING:
    from benchsuite.planning.problems import Problem
    from benchsuite.planning.subjects import Subject


def tune(
    what: Annotated[
        list[str],
        typer.Argument(
            help="A method, or a table as paper/table: the methods of all its rows.",
            metavar="METHOD|PAPER/TABLE...",
            autocompletion=completed("method", "table"),
        ),
    ],
    scale: Annotated[
        str, typer.Option(help="Scale: which of a table's recipes to use.", autocompletion=completed("scale"))
    ] = "latents",
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Of a method: the recipe's name or TOML file, instead of --scale.", autocompletion=completed("recipe")
        ),
    ] = None,
    backbone: Annotated[str | None, typer.Option(help="Only this backbone (default: all).")] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Trials of each method (default: the recipe's number).")
    ] = None,
    jobs: Jobs = None,
    cluster: Schedulers = None,
    cluster_options: OptionsFile = None,
    cluster_option: OptionsGiven = None,
    max_jobs: MaxJobs = None,
    devices: DeviceCount = None,
    plugin: Plugins = None,
    data: Folders = None,
    tables: Tables = None,
    results: Results = RESULTS,
    checkpoint_minutes: CheckpointMinutes = MINUTES,
    checkpoint_steps: CheckpointSteps = None,
    workers: Workers = None,
    skip_bad_pictures: SkipBadPictures = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the trials, the estimated time and all problems; run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tune methods by random search on the validation split.

    Every method gets the same number of trials. Stored trials are not repeated: after an interruption, the same command
    continues. `benchsuite repro --regime tuned` uses the best trial of each method.
    """
    from benchsuite.cli.execute import duration, failure
    from benchsuite.cli.means import Means
    from benchsuite.cli.trials import Work, execute_trials, outcome_line, outcomes, spaces
    from benchsuite.execution.devices import Devices
    from benchsuite.execution.preflight import require_ready
    from benchsuite.planning.trial_runs import example_run
    from benchsuite.records.store import Store
    from benchsuite.report.numbers import counted

    use_machine(workers, skip_bad_pictures)
    refuse_inside_launcher("tune")
    chosen = chosen_cluster(cluster, cluster_options, cluster_option, max_jobs, jobs)
    every = saved_every(checkpoint_minutes, checkpoint_steps)
    means = Means(Devices.here(devices, jobs), chosen, plugin or (), every)
    extra, folders = load_own(tables, plugin), parse_folders(data)
    subjects, problems = find_subjects(what, scale, recipe, extra, folders)
    if backbone and not (subjects := [subject for subject in subjects if subject.backbone == backbone]):
        raise UsageError(f'backbone "{backbone}": none of the methods is run on it.')
    work, store = Work.of(subjects, results, trials), Store(results)
    runs = [trial.run for trial in work.to_do]
    total = sum(len(done) for _, done in work.done) + len(runs)
    time = duration(runs, means.jobs_for(runs), work.measured)
    say(f"{', '.join(what)}: {counted(total, 'trial')}, {len(runs)} to do{time}.")
    checked = means.check([example_run(subject) for subject in work.lacking], results)
    for line in (*spaces(work), *(f"note: {note}" for note in checked.notes)):
        say(line)
    require_ready([*problems, *checked.problems])
    folder = (store.folder / "trials").resolve()
    failed = []
    if not dry_run:
        store.require_writable()
        failed = execute_trials(work, store, means) if work.to_do else []
        work = Work.of(subjects, results, trials)
        say(*map(outcome_line, outcomes(work)), f"trials: {folder}")
    if as_json:
        say_json({"methods": outcomes(work), "to_do": len(work.to_do), "trials": str(folder)})
    if failed:
        raise failure(failed, len(work.to_do), store.logs)


def find_subjects(
    what: Sequence[str], scale: str, recipe: str | None, extra: Sequence[str], folders: Mapping[str, str]
) -> "tuple[Sequence[Subject], Sequence[Problem]]":
    """What is to be tuned, and why rows of the tables cannot be."""
    from benchsuite.planning.chosen_trials import Trials
    from benchsuite.planning.plan import plan_table
    from benchsuite.planning.trial_runs import grouped, method_subjects, recipe_at

    subjects: list[Subject] = []
    problems: list[Problem] = []
    for name in what:
        if "/" not in name:
            subjects += method_subjects(name, recipe or recipe_at(name, scale), folders)
        elif recipe:
            raise UsageError(f"--recipe is for methods; the recipe of {name} is that of its --scale.")
        else:
            plan = plan_table(name, scale, [0], extra=extra, folders=folders, trials=Trials([]))
            subjects += plan.subjects
            problems += plan.problems
    return grouped(subjects), list(dict.fromkeys(problems))
