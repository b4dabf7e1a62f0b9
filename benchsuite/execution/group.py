"""The parent's side of processes that take tickets: one process, or several that do a run at a time together."""

import multiprocessing
from collections.abc import Iterator

from benchsuite.execution.events import Event, Failed
from benchsuite.execution.ticket import Ticket, Watched
from benchsuite.execution.worker import Desk, how, work
from benchsuite.planning.plan import Run

GRACE_SECONDS = 10
"""How long processes may take to exit."""
SAVING_SECONDS = 300
"""How long they may take to finish their step and save their training."""


class Group:
    """Its process takes the tickets of its desk, or launches several that do."""

    def __init__(self, slot: int, desk: Desk) -> None:
        self.slot, self._desk, self._taken = slot, desk, 0
        self._watched: Watched | None = None
        self.process = multiprocessing.get_context("spawn").Process(target=work, args=(desk,))
        self.process.start()
        self.broken = False
        """Whether it cannot do another run."""

    @property
    def run(self) -> Run | None:
        return self._watched.run if self._watched else None

    def take(self, ticket: Ticket) -> None:
        folder = self._desk.ticket(self._taken)
        folder.write(ticket)
        self._taken, self._watched = self._taken + 1, Watched(ticket.run, folder)

    def look(self) -> Iterator[Event]:
        """What happened to the run since; `run` is None after the run's end."""
        died = not self.process.is_alive()  # asked first: what a process wrote before it died counts
        self.broken = died
        if self._watched is None:
            return
        yield from self._watched.look()
        end = self._watched.end
        if end is None and died:
            what = "its worker process" if self._desk.processes == 1 else "the launcher of its processes"
            how_it_died = f"{what} died ({how(self.process.exitcode or 0)}); see {self._desk.logs[-1]}"
            end = Failed(self._watched.run, how_it_died)
            yield end
        if end is None:
            return
        ends = isinstance(end, Failed) and (end.interrupted or self._desk.processes > 1)
        self.broken = died or ends
        self._watched.folder.remove()
        self._watched = None

    def finish(self) -> None:
        """Let idle processes end by themselves."""
        self._desk.close()
        self.process.join(timeout=GRACE_SECONDS)

    def kill(self) -> None:
        """End all processes at once: several end with their launcher."""
        self.process.kill()

    def bury(self) -> None:
        """Wait for the end, force it if it does not come, and drop empty logs that no failure names."""
        saves = self._watched is not None and self._watched.started
        self.process.join(timeout=SAVING_SECONDS if saves else GRACE_SECONDS)
        self.process.kill()
        self.process.join()
        for log in [] if self.broken else self._desk.logs:
            if log.exists() and not log.stat().st_size:
                log.unlink()
