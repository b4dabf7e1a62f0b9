"""This process's part of a run: of a ticket, or of a run in processes that torchrun or srun started."""

import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

from benchsuite.errors import BenchsuiteError, DivergedError, Interrupted, RunError
from benchsuite.execution.events import Event, Failed, Finished, Noted, Started, Stepped, unexpected
from benchsuite.execution.measure import Measured, take_part
from benchsuite.execution.ticket import Failure, Status, TicketFolder
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import Every
from benchsuite.registry import load_plugin
from benchsuite.training.distributed import alone, lost_contact, world_size
from benchsuite.training.engine import device, join_processes

REPORT_SECONDS = 1.0
"""Shortest time between two reports of progress."""


def rank() -> int:
    """This process among those that a launcher started, which may not have met yet."""
    return int(os.environ.get("RANK", "0"))


class Reporter:
    """Writes how far a run is. Of several processes the first alone writes: a step takes all of them."""

    def __init__(self, folder: TicketFolder) -> None:
        self._folder, self._last = folder, 0.0
        before = folder.status()
        self.status = Status() if before is None else before.started_again()
        self.write()

    def stepped(self, step: int) -> None:
        self.status = self.status.model_copy(update={"step": step})
        if time.monotonic() - self._last > REPORT_SECONDS:
            self.write()

    def noted(self, text: str) -> None:
        self.status = self.status.model_copy(update={"notes": (*self.status.notes, text)})
        self.write()

    def write(self) -> None:
        self._last = time.monotonic()
        if rank() == 0:
            self._folder.report(self.status)


def attempt(folder: TicketFolder, reporter: Reporter) -> Measured | Failure | None:
    """What comes of the ticket's run in this process, to be answered; None where another process measures."""
    try:
        ticket = folder.ticket()
        for plugin in ticket.plugins:
            load_plugin(plugin)
        return take_part(ticket.opened(), reporter.stepped, ticket.checkpoints, reporter.noted, ticket.every)
    except Exception as error:
        return failure_of(error)


def failure_of(error: Exception) -> Failure:
    """An error that ended this process's part of a run."""
    diverged, interrupted = isinstance(error, DivergedError), isinstance(error, Interrupted)
    where = f"process of rank {rank()}: " if rank() and not (diverged or interrupted) else ""
    if isinstance(error, BenchsuiteError):
        return Failure(reason=f"{where}{error}", diverged=diverged, interrupted=interrupted)
    lost, trace = lost_contact(error), "".join(traceback.format_exception(error))
    return Failure(reason=f"{where}{lost or unexpected(error)}", traceback=trace, lost=bool(lost))


def agree(plan: Callable[[], Run], is_to_do: Callable[[Run], bool]) -> tuple[Run, bool]:
    """What each process planned, and whether it is to be done, which the first one checks.

    Where planning fails in the first one it says why, and the others nothing; otherwise those say it that failed.
    """
    join_processes()
    first, wanted = rank() == 0, False
    error: BenchsuiteError | None = None
    try:
        with alone():
            run = plan()
            wanted = first and is_to_do(run)
    except BenchsuiteError as caught:
        error = caught
    mine = torch.tensor([error.exit_code if error else 0, int(wanted)], device=device())
    every = [torch.empty_like(mine) for _ in range(world_size())]
    dist.all_gather(every, mine)
    codes = [int(each[0]) for each in every]
    if error and first:
        raise error
    if error and not codes[0]:
        raise RunError(f"process of rank {rank()}: {error}") from error
    if code := max(codes):
        raise SystemExit(code)
    return run, bool(every[0][1])


def do_together(run: Run, folder: Path, every: Every | None, show: Callable[[Event], None]) -> Finished | Failed | None:
    """Do this process's part of the run: the first one shows it and has its end, any other one raises if it fails."""
    show(Started(run))
    try:
        watch, note = (lambda step: show(Stepped(run, step))), (lambda text: show(Noted(run, text)))
        measured = take_part(run, watch, folder, note, every)
    except Exception as error:
        failure = failure_of(error)
        if rank() and (failure.diverged or failure.interrupted):  # all meet it, and the first one says so
            raise SystemExit(Interrupted.exit_code if failure.interrupted else DivergedError.exit_code) from error
        if rank():
            raise RunError(failure.reason) from error
        if failure.interrupted:
            raise
        return Failed(run, failure.reason, failure.traceback, failure.diverged)
    return Finished(run, measured.record, measured.ranks) if measured else None
