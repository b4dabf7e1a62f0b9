"""Execute runs and store each record as it finishes: shared by `repro` and `run`."""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchsuite.cli.means import Executor, Means
from benchsuite.cli.options import INTERRUPTED
from benchsuite.cli.progress import progress
from benchsuite.errors import BenchsuiteError, RunError
from benchsuite.experiments.cluster import Cluster
from benchsuite.experiments.events import Failed, Finished
from benchsuite.experiments.plan import Run, estimated_seconds
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.records.trials import Trial

STARTUP_SECONDS = 15
"""Start-up time of a worker."""


def execute(runs: Sequence[Run], store: Store, means: Means) -> list[Failed]:
    """Execute the runs and store each record as it comes. Returns the runs that failed."""
    failed: list[Failed] = []
    pool = means.executor(store)

    def keep(event: Finished | Failed) -> bool:
        if isinstance(event, Finished):
            store.write(event.record, event.ranks)
            return True
        store.add_failure(event.run.run_id, event.reason)
        keep_traceback(event, store.logs)
        failed.append(event)
        return False

    hint = "`benchsuite report` shows the stored runs"
    carry_out(runs, pool, keep, f"runs are stored in {store.folder}", hint)
    return failed


def carry_out(
    runs: Sequence[Run], pool: Executor, keep: Callable[[Finished | Failed], bool], stored: str, hint: str = ""
) -> None:
    """Execute the runs and show their progress. `keep` stores what comes of a run, and says whether it did."""
    kept = 0
    try:
        with progress(len(runs)) as shown:
            for event in pool.execute(runs):
                if isinstance(event, Finished | Failed):
                    kept += keep(event)
                shown.show(event)
    except KeyboardInterrupt:
        if isinstance(pool, Cluster) and (left := pool.left()):
            print(f"stopped watching: {kept} of {len(runs)} {stored}; {left}", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None
        more = f"; {hint}" if hint else ""
        print(f"stopped: {kept} of {len(runs)} {stored}. The same command continues{more}.", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


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
        logs.mkdir(parents=True, exist_ok=True)
        (logs / f"{event.run.run_id}.txt").write_text(event.traceback, "utf-8")


def failure(failed: Sequence[Failed], total: int, logs: Path, left_out: Sequence[BenchsuiteError] = ()) -> RunError:
    """The error that ends a command after failed runs, and other errors to report."""
    reasons = "\n".join(f"  {event.run.label}: {event.reason}" for event in failed)
    tracebacks = ", ".join(str(logs / f"{event.run.run_id}.txt") for event in failed if event.traceback)
    where = f"\nDetails: {tracebacks}" if tracebacks else ""
    others = "".join(f"\n{error}" for error in left_out)
    return RunError(f"{len(failed)} of {total} runs failed; the others are stored.\n{reasons}{where}{others}")
