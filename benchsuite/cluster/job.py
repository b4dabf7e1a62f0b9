"""What each task of a cluster job does: join the others, and take the run's ticket.

SLURM sends SIGUSR1 some time before a job's time limit: the training saves its checkpoint and raises `Interrupted`, and
the job asks to be queued again. SIGTERM interrupts too, but means that the job is cancelled, that SLURM itself queues
it again, or that another of its tasks died.
"""

import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import torch

from benchsuite.cluster.slurm import requeue
from benchsuite.errors import BenchsuiteError, Interrupted
from benchsuite.execution.attempt import Reporter, attempt
from benchsuite.execution.measure import Measured
from benchsuite.execution.ticket import Failure, Status, TicketFolder
from benchsuite.training.stopping import SIGNALS

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
        with suppress(BlockingIOError):
            self._numbers.update(os.read(self._read, 4096))
        return number in self._numbers


def attend(place: str) -> None:
    """Take the ticket of a folder together with the job's other tasks. SLURM calls this in each of them."""
    from submitit.helpers import TorchDistributedEnvironment

    os.environ.pop("MASTER_PORT", None)  # of whoever submitted: jobs on one node need different ones
    first = TorchDistributedEnvironment().export(set_cuda_visible_devices=False, overwrite=True).rank == 0
    torch.set_num_threads(int(os.environ.get("SLURM_CPUS_PER_TASK", "1")))
    folder, heard = TicketFolder(Path(place)), Heard()
    reporter = Reporter(folder)
    with raising_interrupted(first):
        end = attempt(folder, reporter)
    if isinstance(end, Failure) and end.interrupted:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        reporter.write()
        if first and heard.any_of(TIME_IS_UP):
            queue_again(folder, reporter.status, end.reason)
        raise SystemExit(1 if first else 0)
    answer(folder, end)


def queue_again(folder: TicketFolder, status: Status, reason: str) -> None:
    """Ask SLURM for this job again, unless it never gets further; then wait for SLURM to end it."""
    if status.step <= status.furthest and status.stuck + 1 >= STUCK:
        what = f"stopped {STUCK} times after at most {status.furthest} steps ({reason})"
        more = "Give its job more time, or let it save its checkpoint more often."
        answer(folder, Failure(reason=f"{what}. {more}"))
    try:
        requeue(os.environ["SLURM_JOB_ID"])
    except BenchsuiteError as error:
        answer(folder, Failure(reason=f"{reason} The cluster does not queue it again: {error}"))
    time.sleep(KILLED_SECONDS)
    raise SystemExit(1)


def answer(folder: TicketFolder, end: Measured | Failure | None) -> None:
    """Write what came of the ticket. A task that failed ends so that SLURM ends the others, which may wait for it."""
    folder.answer(end)
    if isinstance(end, Failure):
        logging.getLogger(__name__).error(end.traceback or end.reason)
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
