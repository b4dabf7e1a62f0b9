"""Parallel runs in processes of their own. A process that dies takes its run with it, not the others."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from benchsuite.execution.devices import Devices
from benchsuite.execution.events import Event, Failed
from benchsuite.execution.ticket import Ticket, Watched
from benchsuite.execution.worker import Desk, how, work
from benchsuite.grouping import by_key
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import Saving
from benchsuite.training.stopping import handling

THREADS = "OMP_NUM_THREADS"
LOOK_SECONDS = 0.02
"""Between two looks at what came of runs."""


@dataclass(frozen=True)
class Pool:
    """Groups of processes, each with devices and threads of its own."""

    devices: Devices
    logs: Path
    plugins: Sequence[Path] = ()
    saving: Saving | None = None
    """Where each run has a folder while it lasts, and how often its training is saved there."""
    threads: int | None = None
    """Of each process; none: as `threads` says."""

    def execute(self, runs: Sequence[Run]) -> Generator[Event, None, None]:
        """Do the runs and yield what happens. Closing it early ends all processes, which save their trainings first.

        Runs of several sizes come one size after another: all groups of a time have equal numbers of processes.
        """
        numbers = count()
        sizes = by_key((self.devices.processes(run.setup.training.processes), run) for run in runs)
        for processes, of_size in sizes.items():
            jobs = self.devices.at_a_time(processes, len(of_size))
            yield from self._execute(of_size, processes, jobs, numbers)

    def left(self) -> Sequence[str]:
        """Nothing goes on without the command: closing `execute` ends all processes."""
        return ()

    def _execute(self, runs: Sequence[Run], processes: int, jobs: int, numbers: Iterator[int]) -> Iterator[Event]:
        waiting = deque(runs)
        groups: list[Group] = []
        with TemporaryDirectory(prefix="benchsuite-", ignore_cleanup_errors=True) as desks:
            try:
                while waiting or any(group.run for group in groups):
                    free = sorted(set(range(jobs)) - {group.slot for group in groups})
                    groups += [
                        Group(slot, self._desk(Path(desks), slot, processes, next(numbers)))
                        for slot in free[: len(waiting)]
                    ]
                    for group in groups:
                        if group.run is None and waiting:
                            group.take(Ticket.of(waiting.popleft(), tuple(self.plugins), self.saving))
                    wait([group.process.sentinel for group in groups], timeout=LOOK_SECONDS)
                    for group in groups:
                        yield from group.look()
                    for group in [group for group in groups if group.broken]:
                        groups.remove(group)
                        group.process.terminate()
                        group.bury()
                for group in groups:
                    group.finish()
            finally:
                # Ctrl-C ends all processes at once: they are saving their trainings, and one may never get to it
                with handling(lambda *_: [*map(Group.kill, groups)], signal.SIGINT):
                    for group in groups:
                        group.process.terminate()
                    for group in groups:
                        group.bury()

    def _desk(self, folder: Path, slot: int, processes: int, number: int) -> Desk:
        """The number names its logs: another group may follow in the slot of one that failed."""
        self.logs.mkdir(parents=True, exist_ok=True)
        name = f"worker-{uuid4().hex[:12]}-{number}"
        ranks = [f"-rank-{rank}" for rank in range(processes)] if processes > 1 else []
        logs = [self.logs / f"{name}{rank}.log" for rank in [*ranks, ""]]
        own = folder / str(number)
        own.mkdir()
        return Desk(
            own, self.threads or threads(self.devices, processes), self.devices.environment(slot, processes), logs
        )


def threads(devices: Devices, processes: int) -> int:
    """Threads of each of the processes of a run: what the user says, else one; beside a GPU, its share of the cores.

    On a busy machine, threads that wait for each other make a run take many times as long.
    """
    together = max(len(devices.gpus), (devices.jobs or 1) * processes)
    return stated_threads() or (max(1, (os.cpu_count() or 1) // together) if devices.gpus else 1)


def stated_threads() -> int:
    """As many as the user says that a process is to compute with; 0 if nothing was said."""
    stated = os.environ.get(THREADS, "").partition(",")[0].strip()
    return int(stated) if stated.isdecimal() else 0


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
