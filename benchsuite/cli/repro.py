"""`benchsuite repro`: reproduce a paper's tables and print published numbers beside ours."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.claims_told import both_line
from benchsuite.cli.shared.measuring import do_tables, require_none_shipped
from benchsuite.cli.shared.options import (
    REPORTS,
    AsJson,
    AskedRegimes,
    Replicates,
    TrialCount,
    parse_names,
    parse_seeds,
    require_reported,
)
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.cli.shared.training_options import (
    Jobs,
    KeepWeights,
    MaxJobs,
    TrackingOptions,
    TrainingOptions,
    refuse_inside_launcher,
    with_groups,
)
from benchsuite.errors import UsageError
from benchsuite.files import require_writable

if TYPE_CHECKING:
    from benchsuite.analysis.table_view import TableView
    from benchsuite.records.requests import TableRequest
    from benchsuite.records.schema import Record
    from benchsuite.records.trials import Trial


@with_groups
def repro(
    names: Annotated[
        list[str],
        typer.Argument(help="A table (paper/table), a paper (all its tables), or all.", metavar="PAPER/TABLE..."),
    ],
    options: TrainingOptions,
    tracking: TrackingOptions,
    scale: Annotated[
        str | None, typer.Option(help="Which of the table's recipes to use (default: features, or small).")
    ] = None,
    replicates: Replicates = None,
    seed: Annotated[int | None, typer.Option(help="Only this replicate, instead of --replicates.", min=0)] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            help="Rows to run (default: all): a label or a method, alone or as backbone/label, variant/label or "
            "backbone/variant/label; or headlines: those that headline claims and their premises need. The page also "
            "shows earlier runs."
        ),
    ] = None,
    jobs: Jobs = None,
    max_jobs: MaxJobs = None,
    report: Annotated[Path, typer.Option(help="Folder for the pages.", metavar="FOLDER")] = REPORTS,
    regime: AskedRegimes = None,
    trials: TrialCount = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search here too, though the searches of some tables come with benchsuite.")
    ] = False,
    keep_weights: KeepWeights = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan, the estimated time and all problems; run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce tables of papers.

    Each row is searched in each replicate first, on the replicate's validation split; what is found is trained once
    more and reported on the test split. Stored trials and runs are not repeated: after an interruption, the same
    command continues. Runs that several tables share are executed once. Everything that can be checked is checked
    before the first step; one problem refuses all runs.
    """
    from benchsuite.cli.shared.training_options import show_reading
    from benchsuite.execution.preflight import require_ready
    from benchsuite.papers.claim import headline_rows
    from benchsuite.papers.reader import named_tables, read_table, usual_scale
    from benchsuite.planning.plan import plan_tables, row_names
    from benchsuite.planning.rows import HEADLINES
    from benchsuite.report.numbers import counted
    from benchsuite.work.duration import duration, without_data
    from benchsuite.work.session import failure
    from benchsuite.work.tables import TableWork

    refuse_inside_launcher("repro")
    if replicates is not None and seed is not None:
        raise UsageError("--seed and --replicates exclude each other: give one of them.")
    options.use_machine(tracking)
    session = options.session(jobs, max_jobs)
    extra, folders = options.load_own(), options.folders
    show_reading()
    scale = scale or usual_scale(named_tables(names))
    tables = named_tables(names, scale)
    wanted = parse_seeds(replicates) if seed is None else [seed]
    require_reported(wanted or [])
    chosen = wanted, parse_names(rows, row_names(tables, scale))
    if HEADLINES in chosen[1]:
        tables = [name for name in tables if headline_rows(read_table(name))] or tables
    results, store = options.results, session.store
    plan = partial(
        plan_tables, tables, scale, *chosen, extra, folders, regime=regime, results=results, count=trials, anew=tune
    )
    work = TableWork(plan(), store.read(), results, keep_weights, tune)
    if tune:
        require_none_shipped("--tune", work.contents, results)
    what = tables[0] if len(tables) == 1 else f"{len(tables)} tables"
    states, to_tune = [work.state(run) for run in work.runs], [trial.run for trial in work.trials.to_do]
    measured: dict[str, Record | Trial] = {**work.contents.records, **work.trials.measured}
    brought, n_refused = sum(len(content.trials) for content in work.trials.brought), states.count("refused")
    first = f", {counted(len(to_tune), 'trial')} first" if to_tune else ""
    first += f", {counted(brought, 'trial')} come with benchsuite" if brought else ""
    time = duration([*to_tune, *work.missing], session.workplace.jobs_for(work.missing), measured)
    regimes = {plan.request.regime for plan in work.plans}
    in_words = ", as printed and tuned" if len(regimes) > 1 else ", tuned" if "tuned" in regimes else ""
    to_do = f"{counted(len(states), 'run')}, {states.count('to do')} to do{f', {n_refused} refused' * bool(n_refused)}"
    if held := len(work.shipped):
        to_do += f", {held} stored that come with benchsuite (another --results FOLDER trains them here)"
    waiting = {row for problem in work.problems for row in problem.rows}
    to_do += f", and {counted(len(waiting), 'row')} that cannot be planned yet" if waiting else ""
    say(f"{what} at scale {scale}{in_words}: {to_do}{first}{time}.", *work.edited)
    say(*left_alone([one.request for one in work.plans], work.contents.requests))
    problems = [*work.problems, *session.check(work.missing, work.trials)]
    if dry_run:
        say(*work.lines(), *map(without_data, work.unplanned))
        require_ready(problems)
        if as_json:
            say_json({"scale": scale, "runs": work.states(), "to_tune": len(work.trials.to_do)})
        return
    require_ready(problems)
    from benchsuite.analysis.results import ResultsFolder
    from benchsuite.report.export import as_json as export_json
    from benchsuite.report.export import table_lines
    from benchsuite.report.leaderboard import Leaderboard
    from benchsuite.report.site import write_site
    from benchsuite.verify.audit_trials import too_short

    require_writable(report, "--report")
    work, failed = do_tables(work, plan, session)
    done = replace(work, contents=store.read())
    read = ResultsFolder.read(results, done.contents)
    board = Leaderboard.of(read)
    site = write_site(report, board)
    requested = {each.request.name for each in done.plans}
    own = [view for view in read.views if view.asked.name in requested]
    pages = {name: str(page.resolve()) for name, page in site.tables.items() if name in requested}
    if len(tables) == 1:
        say(*(line for view in own for line in table_lines(view)), *verdict_lines(own))
    tuned = {view.asked.place for view in own if view.asked.regime == "tuned"}
    both = [view for view in read.views if view.asked.place in tuned]  # as printed, too, which may lie there
    say(*map(str, too_short(both, done.contents.trials.values())))
    say(*(f"page:    {page}" for page in dict.fromkeys(pages.values())), f"records: {store.folder.resolve()}")
    if own and len(tables) == 1:
        command = f"benchsuite claims {tables[0]} --scale {scale} --results {shlex.quote(str(results))}"
        say(f"all claims: on the page, or `{command}`")
    if as_json:
        exported = [json.loads(export_json(view)) for view in own]
        say_json({"scale": scale, "runs": done.states(), "tables": exported, "pages": pages})
    if failed:
        raise failure(failed, len(work.missing), store.logs, read.left_out)
    read.require_whole()


def left_alone(asked: "Sequence[TableRequest]", stored: "Sequence[TableRequest]") -> list[str]:
    """Notes on added rows whose reference was not asked for, neither now nor before."""
    from benchsuite.papers.claim import reference_of
    from benchsuite.papers.reader import read_table
    from benchsuite.papers.schema import row_name

    before, found = {one.name: one.rows for one in stored}, []
    for request in asked:
        table, rows = read_table(request.table), {*request.rows, *before.get(request.name, ())}
        for one in request.added:
            reference = reference_of(table, one.backbone, one.variant)
            if reference and reference.name not in rows:
                row, both = row_name((one.backbone, one.variant, one.method)), f"{reference.method},{one.method}"
                found.append(f"note: no verdict on {row} without its reference, {reference.name}: --rows {both}")
    return list(dict.fromkeys(found))


def verdict_lines(views: "Sequence[TableView]") -> Iterator[str]:
    """What became of a table's headline claims, as far as their rows were selected, and of those of added rows."""
    from benchsuite.analysis.both_regimes import in_both_regimes
    from benchsuite.analysis.judged_claims import judged_added, judged_claims
    from benchsuite.records.requests import REGIMES
    from benchsuite.report.answer import answer

    yield from (both_line(one) for one in in_both_regimes(views) if one.tuned.verdict.kind != "not selected")
    alone = [one for view in views if len(views) == 1 for one in judged_claims(view)]
    for one in (*alone, *(one for view in views for one in judged_added(view))):
        if one.claim.headline and one.regime and one.verdict.kind != "not selected":
            yield f"{one.claim.name}, {REGIMES[one.regime]}: {answer(one)}"
