"""Execute runs and store each record as it finishes: shared by `repro` and `run`."""

import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from benchsuite.cli import INTERRUPTED
from benchsuite.cli.means import Executor, Means
from benchsuite.cli.progress import progress
from benchsuite.cli.terminal import say
from benchsuite.cluster.jobs import Cluster
from benchsuite.errors import BenchsuiteError, Interrupted, RunError
from benchsuite.execution.events import Failed, Finished
from benchsuite.files import write_whole
from benchsuite.planning.estimate import estimated_seconds, evaluation_seconds
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import latest_step
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.records.trials import Trial
from benchsuite.training.stopping import SIGNALS

STARTUP_SECONDS = 15
"""What a command takes besides its runs: imports, checks, the start of its workers, and pages."""


def execute(runs: Sequence[Run], planned: Sequence[Run], store: Store, means: Means) -> list[Failed]:
    """Execute those of the planned runs and store each record as it comes. Returns the runs that failed."""
    failed: list[Failed] = []
    pool = means.executor(store)

    def keep(event: Finished | Failed) -> bool:
        if isinstance(event, Finished):
            store.write(event.record, event.ranks)
            return True
        store.add_failure(event.run.run_id, event.reason)
        keep_traceback(event, store.logs)
        if event.diverged:
            store.discard_checkpoints(event.run.run_id)
        failed.append(event)
        return False

    carry_out(runs, planned, pool, keep, "runs", store.folder, "`benchsuite report` shows the stored runs")
    return failed


def carry_out(
    runs: Sequence[Run],
    planned: Sequence[Run],
    pool: Executor,
    keep: Callable[[Finished | Failed], bool],
    what: str,
    results: Path,
    hint: str = "",
) -> None:
    """Execute the runs and show their progress. `keep` stores what comes of a run, and says whether it did."""
    kept = 0
    try:
        with progress(len(runs)) as shown, signals_raised(), closing(pool.execute(runs, planned)) as events:
            for event in events:
                if isinstance(event, Failed) and event.interrupted:
                    raise Interrupted(event.reason)
                if isinstance(event, Finished | Failed):
                    kept += keep(event)
                shown.show(event)
    except (KeyboardInterrupt, Interrupted) as stop:
        if isinstance(pool, Cluster) and (left := pool.left()):
            say(
                f"stopped watching: {kept} of {len(runs)} {what} are stored in {results}; {left[0]}",
                *left[1:],
                error=True,
            )
            raise SystemExit(INTERRUPTED) from None
        more = f"; {hint}" if hint else ""
        saved = under_way(runs, results)
        say(
            f"stopped: {kept} of {len(runs)} {what} are stored in {results}{saved}. The same command continues{more}.",
            error=True,
        )
        raise SystemExit(stop.exit_code if isinstance(stop, Interrupted) else INTERRUPTED) from None


@contextmanager
def signals_raised() -> Iterator[None]:
    """Inside, the first SIGTERM or SIGUSR1 raises `Interrupted`, as Ctrl-C raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def under_way(runs: Sequence[Run], results: Path) -> str:
    """Which trainings have checkpoints, in words for the end of a sentence; empty if none has."""
    steps = {run.label: latest_step(results, run.run_id) for run in runs}
    saved = [f"{label} at step {step}" for label, step in steps.items() if step is not None]
    return f", and trainings are saved: {', '.join(saved)}" if saved else ""


def duration(runs: Sequence[Run], jobs: int, measured: Mapping[str, Record | Trial]) -> str:
    """How long the runs may take, in words, and what that includes; empty if there are none."""
    if not runs:
        return ""
    seconds = estimated_seconds(runs, jobs, measured) + STARTUP_SECONDS
    known = all(run.estimate for run in runs)
    if not known:
        return f"; no estimate (a recipe gives no step_seconds), with {jobs} in parallel"
    evaluated = {run.setup.setup_id for run in runs} <= evaluation_seconds(measured).keys()
    included = "start-up and evaluation included" if evaluated else "start-up included, evaluation not"
    return f"; {about(seconds)} with {jobs} in parallel ({included})"


def about(seconds: float) -> str:
    """A rough duration in words."""
    return f"about {math.ceil(seconds)} s" if seconds < 90 else f"about {math.ceil(seconds / 60)} min"


def keep_traceback(event: Failed, logs: Path) -> None:
    """Keep the traceback of an unexpected failure."""
    if event.traceback:
        write_whole(logs / f"{event.run.run_id}.txt", event.traceback.encode())


def failure(failed: Sequence[Failed], total: int, logs: Path, left_out: Sequence[BenchsuiteError] = ()) -> RunError:
    """The error that ends a command after failed runs, and other errors to report."""
    reasons = [f"  {event.run.label}: {event.reason}" for event in failed]
    tracebacks = ", ".join(str(logs / f"{event.run.run_id}.txt") for event in failed if event.traceback)
    where = [f"Details: {tracebacks}"] if tracebacks else []
    others = [line for error in left_out for line in error.lines]
    return RunError(f"{len(failed)} of {total} runs failed; the others are stored.", more=[*reasons, *where, *others])
