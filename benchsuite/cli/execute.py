"""Execute runs and store each record as it finishes: shared by `repro` and `run`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchsuite.cli.options import INTERRUPTED
from benchsuite.cli.progress import progress
from benchsuite.errors import BenchsuiteError, RunError, UsageError
from benchsuite.experiments.events import Failed, Finished
from benchsuite.experiments.plan import Run
from benchsuite.experiments.pool import Pool
from benchsuite.records.store import Store
from benchsuite.training.needs import several_processes


def default_jobs(runs: int) -> int:
    """One run per core; one on a GPU."""
    import torch

    cores = 1 if torch.cuda.is_available() else os.cpu_count() or 1
    return max(1, min(cores, runs))


def execute(runs: Sequence[Run], store: Store, jobs: int, plugins: Sequence[Path]) -> list[Failed]:
    """Execute the runs and store each record as it comes. Returns the runs that failed."""
    if spread := next((run for run in runs if run.setup.training.processes > 1), None):
        raise UsageError(f"{spread.label} {several_processes(spread.setup)}")
    failed: list[Failed] = []
    stored = 0
    pool = Pool(jobs, store.logs, plugins)
    try:
        with progress(len(runs)) as shown:
            for event in pool.execute(runs):
                if isinstance(event, Finished):
                    store.write(event.record, event.ranks)
                    stored += 1
                elif isinstance(event, Failed):
                    store.add_failure(event.run.run_id, event.reason)
                    keep_traceback(event, pool.logs)
                    failed.append(event)
                shown.show(event)
    except KeyboardInterrupt:
        print(
            f"stopped: {stored} of {len(runs)} runs are stored in {store.folder}. The same command continues; "
            "`benchsuite report` shows the stored runs.",
            file=sys.stderr,
        )
        raise SystemExit(INTERRUPTED) from None
    return failed


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
