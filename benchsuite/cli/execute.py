"""Execute runs and store each record as it finishes: shared by `repro` and `run`."""

import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from benchsuite.cli.options import INTERRUPTED
from benchsuite.cli.progress import progress
from benchsuite.errors import BenchsuiteError, Interrupted, RunError, UsageError
from benchsuite.experiments.events import Failed, Finished
from benchsuite.experiments.plan import Run, estimated_seconds
from benchsuite.experiments.pool import Pool
from benchsuite.records.checkpoints import EVERY, Every, Saving, latest_step
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.records.trials import Trial
from benchsuite.training.needs import several_processes
from benchsuite.training.stopping import SIGNALS

STARTUP_SECONDS = 15
"""Start-up time of a worker."""


def default_jobs(runs: int) -> int:
    """One run per core; one on a GPU."""
    import torch

    cores = 1 if torch.cuda.is_available() else os.cpu_count() or 1
    return max(1, min(cores, runs))


def execute(
    runs: Sequence[Run], store: Store, jobs: int, plugins: Sequence[Path], every: Every | None = EVERY
) -> list[Failed]:
    """Execute the runs and store each record as it comes; `every`: how often a long training is saved.

    Returns the runs that failed.
    """
    failed: list[Failed] = []
    pool = Pool(jobs, store.logs, plugins, Saving(store.folder, every))

    def keep(event: Finished | Failed) -> bool:
        if isinstance(event, Finished):
            store.write(event.record, event.ranks)
            return True
        store.add_failure(event.run.run_id, event.reason)
        keep_traceback(event, pool.logs)
        if event.diverged:
            store.discard_checkpoints(event.run.run_id)
        failed.append(event)
        return False

    hint = "`benchsuite report` shows the stored runs"
    carry_out(runs, pool, keep, f"runs are stored in {store.folder}", hint)
    return failed


def carry_out(
    runs: Sequence[Run], pool: Pool, keep: Callable[[Finished | Failed], bool], stored: str, hint: str = ""
) -> None:
    """Execute the runs and show their progress. `keep` stores what comes of a run, and says whether it did."""
    if spread := next((run for run in runs if run.setup.training.processes > 1), None):
        raise UsageError(f"{spread.label} {several_processes(spread.setup)}")
    kept = 0
    try:
        with progress(len(runs)) as shown, signals_raised(), closing(pool.execute(runs)) as events:
            for event in events:
                if isinstance(event, Failed) and event.interrupted:
                    raise Interrupted(event.reason)
                if isinstance(event, Finished | Failed):
                    kept += keep(event)
                shown.show(event)
    except (KeyboardInterrupt, Interrupted) as stop:
        more = f"; {hint}" if hint else ""
        saved = under_way(runs, pool)
        print(f"stopped: {kept} of {len(runs)} {stored}{saved}. The same command continues{more}.", file=sys.stderr)
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


def under_way(runs: Sequence[Run], pool: Pool) -> str:
    """Which trainings have checkpoints, in words for the end of a sentence; empty if none has."""
    results = pool.saving.results if pool.saving else None
    steps = {run.label: latest_step(results, run.run_id) for run in runs} if results else {}
    saved = [f"{label} at step {step}" for label, step in steps.items() if step is not None]
    return f", and trainings are saved: {', '.join(saved)}" if saved else ""


def duration(runs: Sequence[Run], jobs: int, measured: Mapping[str, Record | Trial]) -> str:
    """How long the runs may take, in words; empty if there are none."""
    if not runs:
        return ""
    seconds = estimated_seconds(runs, jobs, measured) + STARTUP_SECONDS
    known = all(run.estimate for run in runs)
    estimate = about(seconds) if known else "no estimate (a recipe gives no step_seconds),"
    return f"; {estimate} with {jobs} in parallel"


def about(seconds: float) -> str:
    """A rough duration in words."""
    return f"about {math.ceil(seconds)} s" if seconds < 90 else f"about {math.ceil(seconds / 60)} min"


def keep_traceback(event: Failed, logs: Path) -> None:
    """Keep the traceback of an unexpected failure."""
    if event.traceback:
        (logs / f"{event.run.run_id}.txt").write_text(event.traceback, "utf-8")


def failure(failed: Sequence[Failed], total: int, logs: Path, left_out: Sequence[BenchsuiteError] = ()) -> RunError:
    """The error that ends a command after failed runs, and other errors to report."""
    reasons = "\n".join(f"  {event.run.label}: {event.reason}" for event in failed)
    tracebacks = ", ".join(str(logs / f"{event.run.run_id}.txt") for event in failed if event.traceback)
    where = f"\nDetails: {tracebacks}" if tracebacks else ""
    others = "".join(f"\n{error}" for error in left_out)
    return RunError(f"{len(failed)} of {total} runs failed; the others are stored.\n{reasons}{where}{others}")
