"""`benchsuite tune`: give methods the same number of tuning trials."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.groups import with_groups
from benchsuite.cli.shared.options import AsJson
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.cli.shared.training_options import Jobs, MaxJobs, TrainingOptions, refuse_inside_launcher
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
        str | None,
        typer.Option(help="Of a method: the recipe's name or TOML file, instead of --scale."),
    ] = None,
    backbone: Annotated[str | None, typer.Option(help="Only this backbone (default: all).")] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Trials of each method (default: the recipe's number).")
    ] = None,
    jobs: Jobs = None,
    max_jobs: MaxJobs = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the trials, the estimated time and all problems; run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tune methods by random search on the validation split.

    Every method gets the same number of trials. Stored trials are not repeated: after an interruption, the same command
    continues. `benchsuite repro --regime tuned` uses the best trial of each method.
    """
    from benchsuite.execution.preflight import require_ready
    from benchsuite.report.numbers import counted
    from benchsuite.work.duration import duration
    from benchsuite.work.session import failure
    from benchsuite.work.trials import TrialWork, outcome_line, outcomes, spaces

    options.use_machine()
    refuse_inside_launcher("tune")
    session = options.session(jobs, max_jobs)
    subjects, problems = find_subjects(what, scale, recipe, options.load_own(), options.folders)
    if backbone and not (subjects := [subject for subject in subjects if subject.backbone == backbone]):
        raise UsageError(f'backbone "{backbone}": none of the methods is run on it.')
    work, store = TrialWork.of(subjects, options.results, trials), session.store
    runs = [trial.run for trial in work.to_do]
    total = sum(len(done) for _, done in work.done) + len(runs)
    time = duration(runs, session.workplace.jobs_for(runs), work.measured)
    say(f"{', '.join(what)}: {counted(total, 'trial')}, {len(runs)} to do{time}.", *spaces(work))
    require_ready([*problems, *session.check([], work)])
    folder = (store.folder / "trials").resolve()
    failed = []
    if not dry_run:
        store.require_writable()
        failed = session.do_trials(work)
        work = TrialWork.of(subjects, options.results, trials)
        say(*map(outcome_line, outcomes(work)), f"trials: {folder}")
    if as_json:
        say_json({"methods": outcomes(work), "to_do": len(work.to_do), "trials": str(folder)})
    if failed:
        raise failure(failed, len(runs), store.logs)


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
            plan = plan_table(name, scale, [0], extra=extra, folders=folders, trials=Trials())
            subjects += plan.subjects
            problems += plan.problems
    return grouped(subjects), list(dict.fromkeys(problems))
