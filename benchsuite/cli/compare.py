"""`benchsuite compare`: is one method better than another?"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Self

import typer

from benchsuite.cli.shared.claims_told import claim_as_json
from benchsuite.cli.shared.measuring import do_tables, require_none_shipped
from benchsuite.cli.shared.options import (
    REPORTS,
    AsJson,
    AskedRegimes,
    Backbone,
    Replicates,
    TrialCount,
    is_file,
    methods_asked_for,
    parse_seeds,
)
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.cli.shared.training_options import Jobs, MaxJobs, TrainingOptions, refuse_inside_launcher, with_groups
from benchsuite.errors import UsageError
from benchsuite.files import require_writable
from benchsuite.folders import PAPERS, RECIPES, use_folders
from benchsuite.registry import methods
from benchsuite.toml_files import as_toml

if TYPE_CHECKING:
    from benchsuite.planning.plan import Plan
    from benchsuite.work.duration import Pace
    from benchsuite.work.session import Session
    from benchsuite.work.tables import TableWork

LEAST_REPLICATES, LEAST_TRIALS = 3, 4
"""A budget never asks for fewer: they would confirm nothing."""
UNITS = {"s": 1, "m": 60, "h": 3600}


@with_groups
def compare(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Methods, or Python files that register some. The others are compared with the first; one alone is "
            "compared with the reference: infonce, or simclr where one tower is trained.",
            metavar="METHOD|FILE...",
        ),
    ],
    options: TrainingOptions,
    add: Annotated[
        list[str] | None,
        typer.Option(
            help="A further method or file as one more row: no other verdict depends on it. May be repeated.",
            metavar="METHOD|FILE",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(help="A recipe's name or TOML file (default: the one for the data).", metavar="NAME|FILE"),
    ] = None,
    backbone: Backbone = None,
    replicates: Replicates = None,
    trials: TrialCount = None,
    regime: AskedRegimes = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="About so long: 20m, 2h. Kept by fewer replicates, never below three; then by fewer trials, where "
            "that is faster: runs that come with benchsuite have its number of trials.",
            metavar="TIME",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Train built-in methods here too, though their runs come with benchsuite.")
    ] = False,
    jobs: Jobs = None,
    max_jobs: MaxJobs = None,
    report: Annotated[Path, typer.Option(help="Folder for pages and the figure.", metavar="FOLDER")] = REPORTS,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what would be done, and how long it takes here: a few steps are timed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare methods: which one is better, by how much, and how sure is that?

    On real data that come with benchsuite, or on those of --data: a dataset's name, or NAME=FOLDER. Each replicate has
    its own split, initial weights and batches, and searches the hyper-parameters of every method alike: as printed (the
    learning rate alone) and tuned. After an interruption, the same command continues.
    """
    from benchsuite.execution.preflight import require_ready
    from benchsuite.planning.plan import plan_tables
    from benchsuite.planning.recipe import recipe_name
    from benchsuite.records.shipped import shipped_records
    from benchsuite.work.duration import Pace
    from benchsuite.work.session import failure
    from benchsuite.work.tables import TableWork, spaces

    refuse_inside_launcher("compare")
    limit = None if budget is None else parse_time(budget)
    if limit and options.cluster:
        raise UsageError("--budget is for this machine: on a cluster, give --replicates and --trials.")
    asked = Question.of(names, add or (), options, recipe, backbone, again)
    asked.options.use_machine()
    session = asked.options.session(jobs, max_jobs)
    with TemporaryDirectory() as own:
        asked.write(Path(own))
        use_folders([*(options.tables or ()), Path(own)])
        extra, folders = [*asked.added, *asked.beside], asked.options.folders
        plan = partial(
            plan_tables, [asked.table], asked.data, rows=(), extra=extra, folders=folders, regime=regime,
            results=options.results, anew=again,
        )  # fmt: skip
        size, stored = Size(parse_seeds(replicates), trials), session.store.read()
        if again:
            require_none_shipped("--again", stored, options.results)
        shipped = {} if again else {one.run_id: one for one in shipped_records(recipe_name(asked.recipe))}
        known = replace(stored, records={**shipped, **stored.records})
        work = TableWork(plan(seeds=size.seeds, count=size.trials), known, options.results, anew=again)
        require_ready([*work.problems, *session.check(work.missing, work.trials)])
        pace = None
        if (work.missing or work.trials.to_do) and (limit or session.workplace.can_measure(work.missing)):
            say("measuring how long a run takes here", error=True)
            pace = Pace()
        if limit is not None and pace:
            size = within(limit, size, work, pace, session, plan)
            work = replace(work, plans=plan(seeds=size.seeds, count=size.trials))
        *about, how_long = summary(asked, work, pace, session, limit)
        say(*about, *(spaces(work.trials) if dry_run else ()), *work.edited, how_long)
        if dry_run:
            if as_json:
                say_json({"runs": work.states(), "to_tune": len(work.trials.to_do)})
            return
        require_writable(report, "--report")
        session.store.require_writable()
        for run in work.runs:
            if run.run_id in shipped and run.run_id not in stored.records and work.state(run) == "stored":
                session.store.write_alone(shipped[run.run_id])
        work, failed = do_tables(work, partial(plan, seeds=size.seeds, count=size.trials), session)
        show(asked, session, report, as_json)
        if failed:
            raise failure(failed, len(work.missing), session.store.logs)


@dataclass(frozen=True)
class Question:
    """Which methods are compared, on which data, by which recipe."""

    methods: Sequence[str]
    added: Sequence[str]
    beside: Sequence[str]
    """Those whose runs come with benchsuite, where one method alone was named."""
    data: str
    recipe: str
    backbone: str | None
    """None: the recipe's first."""
    options: TrainingOptions
    """With the files of methods as plugins."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        add: Sequence[str],
        options: TrainingOptions,
        recipe: str | None,
        backbone: str | None,
        again: bool,
    ) -> Self:
        """As the command line has it."""
        from benchsuite.planning.comparison import DATA, recipe_for, reference_for
        from benchsuite.planning.recipe import read_recipe, recipe_name
        from benchsuite.records.shipped import shipped_records

        files = [Path(name) for name in (*names, *add) if is_file(name)]
        bare = [text for text in options.data or () if "=" not in text]
        given = [text for text in options.data or () if "=" in text]
        options = replace(options, plugin=[*(options.plugin or ()), *files], data=given)
        options.load_own()
        compared, further = methods_asked_for(names), methods_asked_for(add) if add else []
        alone = len(compared) == 1
        if alone:
            compared = list(dict.fromkeys([reference_for(compared[0]), *compared]))
        if len(compared) < 2:
            raise UsageError(f"{compared[0]} is the reference itself: name a second method.")
        data = [*bare, *(text.partition("=")[0].partition(".")[0] for text in given)]
        if len({*bare}) > 1:
            raise UsageError(f"--data names {' and '.join(bare)}: methods are compared on one dataset at a time.")
        name = read_recipe(recipe).data.name if recipe else data[0] if data else DATA
        if bare and bare[0] != name:
            raise UsageError(f"--data {bare[0]}: recipe {recipe} is on {name}. Leave out one of the two.")
        chosen = recipe or recipe_for(name, [*compared, *further], bool(options.model))
        added = [each for each in further if each not in compared]
        made = read_recipe(chosen)
        towers = made.setup(backbone).image
        shipped = shipped_records(recipe_name(chosen)) if alone and not again else []
        beside = {record.method.name for record in shipped if record.setup.image == towers} - {*compared, *added}
        other = backbone if backbone != next(iter(made.backbones)) else None
        return cls(compared, added, sorted(beside), name, chosen, other, options)

    @property
    def table(self) -> str:
        """The name of the table that they are."""
        from benchsuite.planning.comparison import name_of

        return name_of(self.methods, self.data, self.backbone)

    def write(self, folder: Path) -> None:
        """The table's file, and the recipe's if it is one of the user's, as `--tables` has them."""
        from benchsuite.planning.comparison import comparison
        from benchsuite.planning.recipe import read_recipe, recipe_name

        recipe = recipe_name(self.recipe)
        table = comparison(self.methods, self.data, recipe, read_recipe(self.recipe), self.backbone)
        file = folder / PAPERS / f"{self.table}.toml"
        file.parent.mkdir(parents=True)
        file.write_text(as_toml(table), "utf-8")
        if recipe != self.recipe:
            (folder / RECIPES).mkdir()
            (folder / RECIPES / f"{recipe}.toml").write_bytes(Path(self.recipe).read_bytes())


@dataclass(frozen=True)
class Size:
    """How much is done; none: as the recipe says."""

    seeds: Sequence[int] | None
    trials: int | None


def parse_time(text: str) -> float:
    """`20m` in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip())
    if not found or not float(found[1]):
        raise UsageError(f'--budget "{text}": write a number and s, m or h, for example 20m.')
    return float(found[1]) * UNITS[found[2]]


def within(
    limit: float,
    size: Size,
    work: "TableWork",
    pace: "Pace",
    session: "Session",
    plan: Callable[..., Sequence["Plan"]],
) -> Size:
    """What the budget is enough for: fewer replicates, and if it is not for three, fewer trials.

    With fewer trials, runs that come with benchsuite are trained again; where that takes longer, it is not done.
    """
    from benchsuite.work.duration import together

    jobs = session.workplace.jobs_for(work.missing)
    every = list(dict.fromkeys(seed for plan in work.plans for seed in plan.request.replicates))
    spent = pace.by_replicate(work.missing, work.trials.to_do)
    counts = range(LEAST_REPLICATES, len(every) + 1)
    enough = [n for n in counts if together((spent.get(seed, 0.0) for seed in every[:n]), jobs) <= limit]
    seeds = every[: max(enough, default=LEAST_REPLICATES)]
    if seeds == every and together(spent.values(), jobs) <= limit:
        return size
    if together((spent.get(seed, 0.0) for seed in seeds), jobs) <= limit:
        return Size(seeds, size.trials)
    runs = [run for run in work.missing if run.seed in seeds]

    def first(count: int) -> float:
        trials = [one for one in work.trials.to_do if one.number < count and one.subject.replicate in seeds]
        return together(pace.by_replicate(runs, trials).values(), jobs)

    def planned(some: Size) -> float:
        anew = replace(work, plans=plan(seeds=some.seeds, count=some.trials))
        return together(pace.by_replicate(anew.missing, anew.trials.to_do).values(), jobs)

    trials = range(max(one.request.trials for one in work.plans), LEAST_TRIALS, -1)
    fewer = next((count for count in trials if first(count) <= limit), LEAST_TRIALS)
    return min(Size(seeds, fewer), Size(seeds, size.trials), key=planned)


def summary(
    asked: Question, work: "TableWork", pace: "Pace | None", session: "Session", limit: float | None
) -> Iterator[str]:
    """What will be done, and how long it takes."""
    from benchsuite.planning.data_folders import open_dataset
    from benchsuite.planning.recipe import read_recipe
    from benchsuite.records.requests import REGIMES
    from benchsuite.report.numbers import counted
    from benchsuite.work.duration import about, duration, together

    requests = [plan.request for plan in work.plans]
    brought = [record.method.title for record in work.shipped]
    searched = [f"{one.trials} trials a search {REGIMES[one.regime]}" for one in requests if one.trials]
    how = " and ".join(searched) or "no searches: a difference may be that of the learning rate or the temperatures"
    towers = f", {asked.backbone}" if asked.backbone else ""
    yield f"{asked.table}, recipe {asked.recipe}{towers}: {counted(len(requests[0].replicates), 'replicate')}, {how}"
    splits = open_dataset(work.runs[0].setup.data).manifest().splits
    yield f"data of a replicate: {', '.join(f'{number:,} {name}' for name, number in splits.items())}"
    yield from work.trained
    if (factor := read_recipe(asked.recipe).temperature_factor) != 1:
        yield f"the recipe multiplies all temperatures by {factor:g}; shown are the multiplied values"
    whose = f"{', '.join(dict.fromkeys(brought))}; --again trains them here"
    come = f", {len(brought)} come with benchsuite ({whose})" if brought else ""
    to_do = f"{counted(len(work.runs), 'run')}, {len(work.missing)} to do{come}"
    first = f", {counted(len(work.trials.to_do), 'trial')} first" if work.trials.to_do else ""
    jobs = session.workplace.jobs_for(work.missing)
    if pace is None:
        left = [*(trial.run for trial in work.trials.to_do), *work.missing]
        yield f"{to_do}{first}{duration(left, jobs, {**work.contents.records, **work.trials.measured})}"
        return
    seconds = together(pace.by_replicate(work.missing, work.trials.to_do).values(), jobs)
    over = f"; more than --budget, but fewer than {LEAST_REPLICATES} replicates would confirm nothing"
    too_long = over if limit is not None and seconds > limit else ""
    yield f"{to_do}{first}; {about(seconds)} with {jobs} in parallel, measured here, evaluation included{too_long}"


def show(asked: Question, session: "Session", report: Path, as_json: bool) -> None:
    """The answer; then where the page, the figure and the records are, and the rows for a paper."""
    from benchsuite.analysis.results import ResultsFolder
    from benchsuite.records.requests import REGIMES
    from benchsuite.report.answer import answer_lines, first_runs, latex_rows, run_lines
    from benchsuite.report.export import as_json as export_json
    from benchsuite.report.figures.from_claims import chosen, plots_of_table
    from benchsuite.report.figures.saving import save
    from benchsuite.report.leaderboard import Leaderboard
    from benchsuite.report.site import write_site

    results = session.store.folder
    read = ResultsFolder.read(results)
    board = Leaderboard.of(read)
    views = [view for found in board.by_place.values() for view in found if view.asked.table == asked.table]
    site = write_site(report, board)
    say(*answer_lines(views, [methods.card(name).title for name in asked.beside]))
    figures = {}
    for view in views:
        if plots := plots_of_table(board, view):
            file = report / f"{view.asked.name}.svg"
            save(chosen(plots, None, asked.table), file)
            figures[view.asked.regime] = str(file.resolve())
            say(f"figure, {REGIMES[view.asked.regime]}: {file.resolve()}")
    pages = list(dict.fromkeys(str(site.tables[view.asked.name].resolve()) for view in views))
    say(*(f"page:    {page}" for page in pages), f"records: {results.resolve()}", "LaTeX:", *latex_rows(views))
    say(*(line for view in views[-1:] for line in run_lines(view, results)))
    if as_json:
        judged = [
            claim_as_json(claim)
            for view in views
            for claim in (*board.claims[view.asked.name], *board.added[view.asked.name])
        ]
        tables = [json.loads(export_json(view)) for view in views]
        runs = {v.asked.regime: {name: record.run_id for name, record in first_runs(v).items()} for v in views}
        say_json({"claims": judged, "tables": tables, "figures": figures, "pages": pages, "runs": runs})
    read.require_whole()
