"""The runs of one command: checked before the first one starts, done, and each stored as it finishes."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from benchsuite.cluster.options import ClusterOptions
from benchsuite.errors import INTERRUPTED, BenchsuiteError, Interrupted, RunError
from benchsuite.execution.devices import Devices
from benchsuite.execution.events import Event, Failed, Finished, Noted, Queued, Started, Stepped
from benchsuite.execution.pool import Pool
from benchsuite.execution.preflight import preflight
from benchsuite.files import write_whole
from benchsuite.planning.plan import Run
from benchsuite.planning.problems import Problem
from benchsuite.planning.trial_runs import example_run
from benchsuite.records.checkpoints import EVERY, Every, Saving, folder_of, latest_step
from benchsuite.records.store import Store
from benchsuite.training.stopping import SIGNALS, handling
from benchsuite.work.duration import about
from benchsuite.work.tables import TrialKeeper, TrialWork

Say = Callable[..., None]
"""Shows lines, as the command line does; with `error=True` beside what the command was asked for."""
STEPS_EVERY = 60
"""Seconds between lines about steps."""
KNOWN = 8
"""So many runs say how long the others take: two of each of four workers."""


@dataclass(frozen=True)
class Workplace:
    """As the options of a command say."""

    devices: Devices
    """This machine's."""
    cluster: ClusterOptions | None = None
    """What jobs ask of a cluster, where runs are jobs; then this machine's devices are not used."""
    max_jobs: int | None = None
    """Jobs of the cluster at a time; none: the cluster decides."""
    plugins: Sequence[Path] = ()
    every: Every | None = EVERY
    """How often a long training is saved; None: never."""

    def executor(self, store: Store) -> "Pool | Cluster":
        if self.cluster:
            from benchsuite.cluster.jobs import Cluster

            return Cluster(self.cluster, store.folder, self.plugins, self.max_jobs, self.every)
        return Pool(self.devices, store.logs, self.plugins, Saving(store.folder, self.every))

    def can_measure(self, runs: Sequence[Run]) -> bool:
        """Whether a short training here tells how long these take: not those of a cluster, or of a GPU without one."""
        here = self.devices.gpus or all(run.setup.training.precision != "bf16" for run in runs)
        return not self.cluster and bool(here)

    def jobs_for(self, runs: Sequence[Run]) -> int:
        """How many of these runs are done at a time."""
        if self.cluster:
            return max(1, min(self.max_jobs or len(runs), len(runs)))
        return self.devices.jobs_for(runs)


@dataclass(frozen=True)
class Session:
    """Where runs are done, where they are stored, and who sees how far they are."""

    workplace: Workplace
    store: Store
    say: Say

    def check(self, runs: Sequence[Run], trials: TrialWork | None = None) -> Sequence[Problem]:
        """Every problem of the runs, and of trials that come before them; shows what else is to be known."""
        examples = [example_run(subject) for subject in trials.lacking] if trials else []
        place, every = self.workplace, [*examples, *runs]
        checked = preflight(every, self.store.folder, place.jobs_for(every), place.devices, place.cluster is not None)
        of_cluster = place.cluster.notes([run.setup for run in every]) if place.cluster else ()
        for note in (*of_cluster, *checked.notes):
            self.say(f"note: {note}")
        return checked.problems

    def do(self, runs: Sequence[Run]) -> list[Failed]:
        """Do the runs and store each record as it comes. Returns the runs that failed."""
        failed: list[Failed] = []
        with signals_raised():
            self._carry_out(runs, partial(self._keep, failed), "runs", "; `benchsuite report` shows the stored runs")
        return failed

    def do_together(self, run: Run) -> list[Failed]:
        """The same of one run in processes that a launcher started, of which the first one stores and shows."""
        from benchsuite.execution.attempt import do_together
        from benchsuite.training.distributed import rank

        failed: list[Failed] = []
        folder, every = folder_of(self.store.folder, run.run_id), self.workplace.every
        if rank():
            do_together(run, folder, every, lambda event: None)
            return failed
        shown = Lines(1, self.say)
        if end := do_together(run, folder, every, shown.show):
            self._keep(failed, end)
            shown.show(end)
        return failed

    def _keep(self, failed: list[Failed], event: Finished | Failed) -> bool:
        """Store what came of a run; whether it is a record."""
        if isinstance(event, Finished):
            self.store.write(event.record, event.ranks)
            return True
        self.store.add_failure(event.run, event.reason)
        keep_traceback(event, self.store.logs)
        if event.diverged:
            self.store.discard_checkpoints(event.run.run_id)
        failed.append(event)
        return False

    def do_trials(self, work: TrialWork) -> list[Failed]:
        """Do the missing trials and store each as it comes. A diverged run is a trial; returns the other failures."""
        failed: list[Failed] = []
        keeper = TrialKeeper(work, self.store)

        def keep(event: Finished | Failed) -> bool:
            if isinstance(event, Failed) and not event.diverged:
                keep_traceback(event, self.store.logs)
                failed.append(event)
                return False
            keeper.keep(event)
            return True

        with signals_raised():
            try:
                self._carry_out([*{trial.run.run_id: trial.run for trial in work.to_do}.values()], keep, "trials")
            finally:
                keeper.write()
        return failed

    def _carry_out(
        self, runs: Sequence[Run], keep: Callable[[Finished | Failed], bool], what: str, hint: str = ""
    ) -> None:
        """Do the runs and show their progress. `keep` stores what comes of a run, and says whether it did."""
        if not runs:
            return
        kept, executor, shown = 0, self.workplace.executor(self.store), Lines(len(runs), self.say)
        try:
            with closing(executor.execute(runs)) as events:
                for event in events:
                    if isinstance(event, Failed) and event.interrupted:
                        raise Interrupted(event.reason)
                    if isinstance(event, Finished | Failed):
                        kept += keep(event)
                    shown.show(event)
        except (KeyboardInterrupt, Interrupted) as stop:
            stored = f"{kept} of {len(runs)} {what} are stored in {self.store.folder}"
            if left := executor.left():
                self.say(f"stopped watching: {stored}; {left[0]}", *left[1:], error=True)
                raise SystemExit(INTERRUPTED) from None
            steps = {run.label: latest_step(self.store.folder, run.run_id) for run in runs}
            under_way = [f"{label} at step {step}" for label, step in steps.items() if step is not None]
            saved = f", and trainings are saved: {', '.join(under_way)}" * bool(under_way)
            self.say(f"stopped: {stored}{saved}. The same command continues{hint}.", error=True)
            raise SystemExit(stop.exit_code if isinstance(stop, Interrupted) else INTERRUPTED) from None


@contextmanager
def signals_raised() -> Iterator[None]:
    """Inside, the first SIGTERM or SIGUSR1 raises `Interrupted`, and the first Ctrl-C KeyboardInterrupt.

    Later ones are left unheard: what is done is being stored.
    """
    ctrl_c = [signal.SIGINT] * (signal.getsignal(signal.SIGINT) is signal.default_int_handler)  # unless ignored

    def stop(number: int, frame: FrameType | None) -> None:
        for each in (*SIGNALS, *ctrl_c):
            signal.signal(each, signal.SIG_IGN)
        if number in ctrl_c:
            raise KeyboardInterrupt
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    with handling(stop, *SIGNALS, *ctrl_c):
        yield


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
    count = f"{len(failed)} of {total} runs" if total > 1 else "the run"
    stored = "; the others are stored" if len(failed) < total else ""
    return RunError(f"{count} failed{stored}.", more=[*reasons, *where, *others])


class Lines:
    """A line when a run starts, one when it ends, and now and then one about its steps."""

    def __init__(self, total: int, say: Say) -> None:
        self._total, self._say = total, partial(say, error=True)
        self._done = 0
        self._began = self._last = time.monotonic()

    def show(self, event: Event) -> None:
        """Print starts and ends; of steps, which are many, one after a while."""
        match event:
            case Queued(run, job, obstacle):
                self._say(f"queue  {run.label}  job {job}" + f" waits: {obstacle}" * bool(obstacle))
            case Started(run):
                self._say(f"start  {run.label}")
            case Stepped(run, step) if time.monotonic() - self._last > STEPS_EVERY:
                self._last = time.monotonic()
                self._say(f"step   {run.label}  {step} of {run.steps}")
            case Finished(run, record):
                self._done += 1
                count = f"{self._done} of {self._total}{self._left()}"
                self._say(f"done   {run.label}  {record.cost['seconds']:.0f} s  ({count})")
            case Failed(run, reason, interrupted=True):
                self._say(f"stopped {run.label}  {reason}")
            case Failed(run, reason):
                self._done += 1
                self._say(f"failed {run.label}  {reason}")
            case Noted(run, text):
                self._say(f"note   {run.label}  {text}")

    def _left(self) -> str:
        """How long the others take if they are like those done; nothing after a few, nor in the last minute."""
        seconds = (time.monotonic() - self._began) / self._done * (self._total - self._done)
        return f", {about(seconds)} left" if self._done >= KNOWN and seconds > 60 else ""


if TYPE_CHECKING:
    from benchsuite.cluster.jobs import Cluster
