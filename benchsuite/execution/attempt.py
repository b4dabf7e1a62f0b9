"""Take a ticket: do this process's part of its run, and say how far it is and what comes of it."""

import os
import time
import traceback

from benchsuite.errors import BenchsuiteError, DivergedError, Interrupted
from benchsuite.execution.events import unexpected
from benchsuite.execution.measure import Measured, take_part
from benchsuite.execution.ticket import Failure, Status, TicketFolder
from benchsuite.registry import load_plugin
from benchsuite.training.distributed import lost_contact

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
