"""What each task of a cluster job does: join the others, take part in the run, leave what came of it.

The first task reports progress and writes record and ranks. SLURM sends SIGUSR1 some time before a job's time limit:
the training saves its checkpoint and raises `Interrupted`, and the job asks to be queued again. SIGTERM interrupts too,
but means that the job is cancelled, that SLURM itself queues it again, or that another of its tasks died.
"""

import logging
import os
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import torch

from benchsuite.cluster.files import Failure, RunFolder, Status
from benchsuite.cluster.slurm import requeue
from benchsuite.errors import BenchsuiteError, DivergedError, Interrupted
from benchsuite.execution.events import unexpected
from benchsuite.execution.measure import Measured, take_part
from benchsuite.registry import load_plugin
from benchsuite.training.stopping import SIGNALS

REPORT_SECONDS = 1.0
"""Shortest time between two reports of progress."""
STUCK = 3
"""A job that got no further in so many starts, one after the other, is not queued again."""
KILLED_SECONDS = 120
"""How long SLURM may take to end a job that is queued again."""
TIME_IS_UP = signal.SIGUSR1


class Heard:
    """Which signals came, whoever handles them: during a training that is not this module."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        for end in (self._read, write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        self._numbers: set[int] = set()

    def any_of(self, number: int) -> bool:
        """Whether this one came."""
        with suppress(BlockingIOError):
            self._numbers.update(os.read(self._read, 4096))
        return number in self._numbers


class Reporter:
    """Writes how far the run is, for the command that waits. Other tasks than the first write nothing."""

    def __init__(self, folder: RunFolder, first: bool) -> None:
        self._folder, self._first, self._last = folder, first, 0.0
        before = folder.status()
        self.status = Status() if before is None else started_again(before)
        self._write()

    def stepped(self, step: int) -> None:
        """A step was finished."""
        self.status = self.status.model_copy(update={"step": step})
        if time.monotonic() - self._last > REPORT_SECONDS:
            self._write()

    def noted(self, text: str) -> None:
        """There is something that a user should know."""
        self.status = self.status.model_copy(update={"note": text})
        self._write()

    def stopped(self) -> None:
        """The training was interrupted."""
        self._write()

    def _write(self) -> None:
        self._last = time.monotonic()
        if self._first:
            self._folder.report(self.status)


def started_again(before: Status) -> Status:
    """The status of a job's next start."""
    further = before.step > before.furthest
    return Status(
        starts=before.starts + 1,
        furthest=max(before.furthest, before.step),
        stuck=0 if further else before.stuck + 1,
    )


def attend(place: str) -> None:
    """Do the run of a folder together with the job's other tasks. SLURM calls this in each of them."""
    from submitit.helpers import TorchDistributedEnvironment

    os.environ.pop("MASTER_PORT", None)  # of whoever submitted: jobs on one node need different ones
    group = TorchDistributedEnvironment().export(set_cuda_visible_devices=False, overwrite=True)
    torch.set_num_threads(int(os.environ.get("SLURM_CPUS_PER_TASK", "1")))
    first, folder = group.rank == 0, RunFolder(Path(place))
    reporter = Reporter(folder, first)
    heard = Heard()
    try:
        with raising_interrupted(first):
            measured = _take_part(folder, reporter)
    except Interrupted as stopped:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        reporter.stopped()
        if first and heard.any_of(TIME_IS_UP):
            queue_again(folder, reporter.status, str(stopped))
        raise SystemExit(1 if first else 0) from stopped
    except BenchsuiteError as error:
        _fail(folder, Failure(reason=str(error), diverged=isinstance(error, DivergedError)))
    except Exception as error:
        _fail(folder, Failure(reason=unexpected(error), traceback=traceback.format_exc()))
    if measured:
        folder.finish(measured)


def _take_part(folder: RunFolder, reporter: Reporter) -> Measured | None:
    ticket = folder.ticket()
    for plugin in ticket.plugins:
        load_plugin(Path(plugin))
    return take_part(ticket.opened(), reporter.stepped, folder.checkpoints, reporter.noted, ticket.every)


def _fail(folder: RunFolder, failure: Failure) -> None:
    """Write why, and end the task so that SLURM ends the others, which may wait for it."""
    folder.fail(failure)
    logging.getLogger(__name__).error(failure.traceback or failure.reason)
    raise SystemExit(1)


def queue_again(folder: RunFolder, status: Status, reason: str) -> None:
    """Ask SLURM for this job again, unless it never gets further; then wait for SLURM to end it."""
    if status.step <= status.furthest and status.stuck + 1 >= STUCK:
        what = f"stopped {STUCK} times after at most {status.furthest} steps ({reason})"
        _fail(folder, Failure(reason=f"{what}. Give its job more time, or let it save its checkpoint more often."))
    try:
        requeue(os.environ["SLURM_JOB_ID"])
    except BenchsuiteError as error:
        _fail(folder, Failure(reason=f"{reason} The cluster does not queue it again: {error}"))
    time.sleep(KILLED_SECONDS)
    raise SystemExit(1)


@contextmanager
def raising_interrupted(first: bool) -> Iterator[None]:
    """Outside of the training, which heeds the signals itself, the first task raises; the others wait for it.

    At the end they are ignored: what was measured is being written.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Interrupted(f"Stopped by {signal.Signals(number).name}.")

    for number in SIGNALS:
        signal.signal(number, stop if first else signal.SIG_IGN)
    try:
        yield
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
