"""`benchsuite tune`: search for methods, each with the same number of trials."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.options import AsJson, AskedRegimes, Replicates, TrialCount, parse_seeds
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.cli.shared.training_options import Jobs, MaxJobs, TrainingOptions, refuse_inside_launcher, with_groups
from benchsuite.errors import UsageError

if TYPE_CHECKING:
    from benchsuite.planning.problems import Problem
    from benchsuite.planning.subjects import Subject


@with_groups
def tune(
    what: Annotated[
        list[str],
        typer.Argument(
            help="A method, or a table as paper/table: the methods of all its rows.", metavar="METHOD|PAPER/TABLE..."
        ),
    ],
    options: TrainingOptions,
    scale: Annotated[str, typer.Option(help="Scale: which of a table's recipes to use.")] = "latents",
    recipe: Annotated[
        str | None, typer.Option(help="Of a method: the recipe's name or TOML file, instead of --scale.")
    ] = None,
    backbone: Annotated[str | None, typer.Option(help="Only this backbone (default: all).")] = None,
    replicates: Replicates = None,
    regime: AskedRegimes = None,
    trials: TrialCount = None,
    jobs: Jobs = None,
    max_jobs: MaxJobs = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the trials, the estimated time and all problems; run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search for hyper-parameters on the validation split, without running what is then reported.

    Every row is searched in every replicate, by the same number of trials. Stored trials are not repeated: after an
    interruption, the same command continues. `benchsuite repro` does the same, and then runs the best trial of each.
    """
    from benchsuite.execution.preflight import require_ready
    from benchsuite.records.method_version import edited
    from benchsuite.records.trials import add_trials
    from benchsuite.report.numbers import climbed, counted
    from benchsuite.work.duration import duration
    from benchsuite.work.session import failure
    from benchsuite.work.tables import TrialWork, climbs, outcome, outcome_line, spaces

    options.use_machine()
    refuse_inside_launcher("tune")
    session = options.session(jobs, max_jobs)
    if trials == 0:
        raise UsageError("--trials 0: a search has at least one trial.")
    subjects, problems = find_subjects(what, options, scale, recipe, parse_seeds(replicates), regime, trials)
    if backbone and not (subjects := [one for one in subjects if one.backbone == backbone]):
        raise UsageError(f'backbone "{backbone}": none of the methods is run on it.')
    work, store = TrialWork.of(subjects, options.results, anew=True), session.store
    runs = [trial.run for trial in work.to_do]
    total = sum(len(done) for _, done in work.done) + len(runs)
    time = duration(runs, session.workplace.jobs_for(runs), work.measured)
    say(f"{', '.join(what)}: {counted(total, 'trial')}, {len(runs)} to do{time}.", *spaces(work), *edited(work.methods))
    require_ready([*problems, *session.check([], work)])
    folder = (store.folder / "trials").resolve()
    failed = []
    if not dry_run:
        store.require_writable()
        failed = session.do_trials(work)
        work = TrialWork.of(subjects, options.results, anew=True)
        for content in work.shared:
            add_trials(store.folder, content)
    outcomes = [outcome(subject, trials) for subject, trials in work.done]
    if not dry_run:
        climbing = (f"{row}: {climbed(count, gain)}" for row, count, gain in climbs(work))
        say(*map(outcome_line, outcomes), *climbing, f"trials: {folder}")
    if as_json:
        say_json({"methods": outcomes, "to_do": len(work.to_do), "trials": str(folder)})
    if failed:
        raise failure(failed, len(runs), store.logs)


def find_subjects(
    what: Sequence[str],
    options: TrainingOptions,
    scale: str,
    recipe: str | None,
    replicates: Sequence[int] | None,
    regime: str | None,
    trials: int | None,
) -> "tuple[Sequence[Subject], Sequence[Problem]]":
    """What is to be searched, and why rows of the tables cannot be."""
    from benchsuite.planning.plan import plan_tables
    from benchsuite.planning.trial_runs import grouped, method_subjects, recipe_at
    from benchsuite.records.requests import regimes

    extra, folders = options.load_own(), options.folders
    subjects: list[Subject] = []
    problems: list[Problem] = []
    planned = partial(plan_tables, regime=regime, results=options.results, count=trials, anew=True)
    for name in what:
        if "/" not in name:
            found = method_subjects(name, recipe or recipe_at(name, scale), folders, replicates)
            kinds = regimes(regime or "tuned")
            every = (replace(one, count=trials, regime=kind) for kind in kinds for one in found)
            subjects += [one for one in every if one.trials]
        elif recipe:
            raise UsageError(f"--recipe is for methods; the recipe of {name} is that of its --scale.")
        else:
            for plan in planned([name], scale, replicates, (), extra, folders):
                subjects += plan.subjects
                problems += plan.problems
    return grouped(subjects), list(dict.fromkeys(problems))
