"""Parallel runs in processes of their own. A process that dies takes its run with it, not the others."""

import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from uuid import uuid4

from benchsuite.execution.devices import Devices
from benchsuite.execution.events import Event
from benchsuite.execution.group import Group
from benchsuite.execution.ticket import Ticket
from benchsuite.execution.worker import Desk
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import Saving

THREADS = "OMP_NUM_THREADS"
LOOK_SECONDS = 0.02
"""Between two looks at what came of runs."""


@dataclass(frozen=True)
class Pool:
    """Groups of processes, each with devices and a share of the processor's threads of its own."""

    devices: Devices
    logs: Path
    plugins: Sequence[Path] = ()
    saving: Saving | None = None
    """Where each run has a folder while it lasts, and how often its training is saved there."""
    threads: int | None = None
    """Of each process; none: an equal share of the cores."""

    def execute(self, runs: Sequence[Run], planned: Sequence[Run]) -> Generator[Event, None, None]:
        """Do the runs and yield what happens. Closing it early ends all processes, which save their trainings first.

        Runs of several sizes come one size after another: all groups of a time have equal numbers of processes. The
        threads of a process follow from the planned runs, stored ones included: a command that goes on after an
        interruption computes with as many as before.
        """
        numbers = count()
        sizes: dict[int, list[Run]] = {}
        for run in runs:
            sizes.setdefault(self._processes(run), []).append(run)
        able = [run for run in planned if not self.devices.problem(run.setup.training.processes)]
        together = Counter(map(self._processes, able))
        for processes, of_size in sizes.items():
            jobs = self.devices.at_a_time(processes, together[processes])
            yield from self._execute(of_size, processes, jobs, numbers)

    def left(self) -> Sequence[str]:
        """Nothing goes on without the command: closing `execute` ends all processes."""
        return ()

    def _processes(self, run: Run) -> int:
        return self.devices.processes(run.setup.training.processes)

    def _execute(self, runs: Sequence[Run], processes: int, jobs: int, numbers: Iterator[int]) -> Iterator[Event]:
        waiting = deque(runs)
        groups: list[Group] = []
        with TemporaryDirectory(prefix="benchsuite-", ignore_cleanup_errors=True) as desks:
            try:
                while waiting or any(group.run for group in groups):
                    free = sorted(set(range(jobs)) - {group.slot for group in groups})
                    groups += [
                        Group(slot, self._desk(Path(desks), slot, processes, jobs, next(numbers)))
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
                        group.stop()
                        group.bury()
                for group in groups:
                    group.finish()
            finally:
                with _ending_at_a_second_interrupt(groups):
                    for group in groups:
                        group.stop()
                    for group in groups:
                        group.bury()

    def _desk(self, folder: Path, slot: int, processes: int, jobs: int, number: int) -> Desk:
        """The number names its logs: another group may follow in the slot of one that failed."""
        self.logs.mkdir(parents=True, exist_ok=True)
        name = f"worker-{uuid4().hex[:12]}-{number}"
        ranks = [f"-rank-{rank}" for rank in range(processes)] if processes > 1 else []
        logs = [self.logs / f"{name}{rank}.log" for rank in [*ranks, ""]]
        own = folder / str(number)
        own.mkdir()
        return Desk(own, self.threads or threads(jobs * processes), self.devices.environment(slot, processes), logs)


def threads(processes: int) -> int:
    """Threads that each of so many processes computes with: an equal share of the cores, or what the user says."""
    stated = os.environ.get(THREADS, "").partition(",")[0].strip()
    return int(stated) if stated.isdecimal() and int(stated) else max(1, (os.cpu_count() or 1) // processes)


@contextmanager
def _ending_at_a_second_interrupt(groups: Sequence[Group]) -> Iterator[None]:
    """Inside, Ctrl-C ends all processes at once: they are saving their trainings, and one may never get to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        for group in groups:
            group.kill()

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
