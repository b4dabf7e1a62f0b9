"""What commands that measure tables do alike."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchsuite.cli.shared.terminal import say
from benchsuite.errors import UsageError

if TYPE_CHECKING:
    from benchsuite.execution.events import Failed
    from benchsuite.planning.plan import Plan
    from benchsuite.records.contents import Contents
    from benchsuite.work.session import Session
    from benchsuite.work.tables import TableWork


def require_none_shipped(option: str, contents: "Contents", results: Path) -> None:
    """Refuse a folder whose runs or trials would be taken for those that are to be measured here."""
    from benchsuite.records.shipped import shipped_digests, shipped_trials

    theirs = {recipe: shipped_trials(recipe) for recipe in contents.trials}
    moments = {(one.run_id, one.created) for file in theirs.values() for one in (file.trials if file else ())}
    trials = (trial for file in contents.trials.values() for trial in file.trials)
    if any(record.digest in shipped_digests() for record in contents.records.values()) or any(
        (trial.run_id, trial.created) in moments for trial in trials
    ):
        raise UsageError(
            f"{option}: {results} has runs or trials that come with benchsuite. Give another --results FOLDER."
        )


def do_tables(
    work: "TableWork", plan: "Callable[[], list[Plan]]", session: "Session"
) -> "tuple[TableWork, list[Failed]]":
    """Search where trials are missing, store what the tables request, then do the runs that are missing.

    `plan` plans again with the trials that are then stored. Returns also the runs that failed.
    """
    from benchsuite.execution.preflight import require_ready
    from benchsuite.records.trials import add_trials
    from benchsuite.verify.stored_tables import keep
    from benchsuite.work.session import failure

    session.store.require_writable()
    if work.trials.to_do:
        if failed := session.do_trials(work.trials):
            raise failure(failed, len(work.trials.to_do), session.store.logs)
        work = replace(work, plans=plan())
        require_ready([*work.problems, *session.check(work.missing)])
    for content in (*work.trials.brought, *work.trials.shared):
        add_trials(session.store.folder, content)
    for each in work.plans:
        say(*keep(session.store, each.request))
        session.store.add_request(each.request)
    if bare := work.without_weights:
        say(without_weights(bare, work.results))
    return work, session.do(work.missing)


def without_weights(count: int, results: Path) -> str:
    """A note on runs that were stored before their weights were asked for."""
    runs = "the run is stored without its" if count == 1 else f"{count} runs are stored without their"
    return f"note: {runs} weights in {results}, and no record is replaced. To keep them, give another --results FOLDER."
