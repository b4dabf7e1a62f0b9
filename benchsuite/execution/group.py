"""The parent's side of processes that do runs together: from the messages of each to the events of the run.

The step of a run is that of its slowest process, so that a stall of one shows. A run ends when all its processes have
ended their part; if one fails or dies, the others, which would wait for it, are ended.
"""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path

from benchsuite.execution.events import Event, Failed, Finished, Noted, Started, Stepped
from benchsuite.execution.launch import Death
from benchsuite.execution.launch import Started as Processes
from benchsuite.execution.worker import Began, Broke, Ended, Message, Reached, Told
from benchsuite.planning.plan import Run

GRACE_SECONDS = 10
"""How long a process may take to exit, or to fail like the first one that failed."""
SAVING_SECONDS = 300
"""How long processes may take to finish their step and save their training."""
DEATH_SECONDS = 90
"""How long the launcher may take to say which process died: it first ends the others, up to a minute."""
TIMED_OUT = "collective operation timeout"
"""What NCCL writes before it ends a process that waited too long."""


class Group:
    """One process, or several, that do a run at a time together."""

    def __init__(self, slot: int, processes: Processes, logs: Sequence[Path], saves: bool = False) -> None:
        """`logs`: of each process, then of the launcher if there is one. `saves`: trainings, when asked to stop."""
        self.slot, self.logs, self._saves = slot, logs, saves
        self.run: Run | None = None
        self.broken = False
        """Whether its processes cannot do another run."""
        self._keeper, self._report = processes.keeper, processes.report
        self._pipes = list(processes.pipes)
        self._steps = [0] * len(self._pipes)
        self._ends: dict[int, Ended | Broke] = {}
        self._began: dict[int, int] = {}
        """The number of each process that took the run."""
        self._deadline: float | None = None
        self._ending = False
        """Whether the launcher ends by itself, since it said that a process died."""

    @property
    def connections(self) -> list[Connection]:
        """Where something may come while it does a run."""
        return [*self._pipes, *([self._report] if self._report else [])]

    @property
    def deadline(self) -> float | None:
        """When a run of which one process failed is given up, in monotonic seconds."""
        return self._deadline

    def take(self, run: Run) -> None:
        """Begin a run."""
        self.run, self._ends, self._began, self._deadline = run, {}, {}, None
        self._steps = [0] * len(self._pipes)
        for pipe in self._pipes:
            with suppress(BrokenPipeError):
                pipe.send(run)

    def hear(self) -> Iterator[Event]:
        """What happened since; `run` is None after the run's end."""
        for rank, pipe in enumerate(self._pipes):
            try:
                while self.run and not self.broken and pipe.poll():
                    yield from self._heard(rank, pipe.recv())
            except (EOFError, OSError):
                if self._report is None:
                    yield self._give_up(self._death_of_single())
        if self.run and self._report and self._report.poll():
            yield self._give_up(self._death())
        if self.run and len(self._ends) == len(self._pipes):
            yield self._end()
        elif self.run and self._deadline and time.monotonic() > self._deadline:
            yield self._give_up(self._first_failure())

    def finish(self) -> None:
        """Let idle processes end by themselves."""
        for pipe in self._pipes:
            with suppress(BrokenPipeError):
                pipe.send(None)
        self._keeper.join(timeout=GRACE_SECONDS)

    def stop(self) -> None:
        """Ask all processes to end now. The launcher of several asks each, and gives them half a minute to do it.

        A training may take longer to be saved: then its processes are asked directly.
        """
        if self._saves_now and self._report:
            self._send(signal.SIGTERM)
        elif not self._ending:
            self._keeper.terminate()

    def kill(self) -> None:
        """End all processes at once: those of several with their launcher."""
        if self.run:
            self._send(signal.SIGKILL)
        self._keeper.kill()

    def _send(self, number: signal.Signals) -> None:
        """To each process that took the run."""
        for process in self._began.values():
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def bury(self) -> None:
        """Wait for the end of all, force it if it does not come, and drop empty logs that no failure names."""
        self._keeper.join(timeout=SAVING_SECONDS if self._saves_now else GRACE_SECONDS)
        self._keeper.kill()  # processes of a group end with their launcher, a moment later
        self._keeper.join()
        self._wait_for_ends()
        for log in [] if self.broken else self.logs:
            if log.exists() and not log.stat().st_size:
                log.unlink()

    def _wait_for_ends(self) -> None:
        """A pipe ends when all processes that hold its other end have ended."""
        deadline, pipes = time.monotonic() + GRACE_SECONDS, list(self._pipes)
        while ready := wait(pipes, timeout=max(0.0, deadline - time.monotonic())):
            for pipe in ready:
                assert isinstance(pipe, Connection)
                try:
                    pipe.recv_bytes()
                except (EOFError, OSError):
                    pipes.remove(pipe)

    @property
    def _saves_now(self) -> bool:
        """Whether it does a run that all its processes have taken, and would save the training."""
        return self._saves and self.run is not None and len(self._began) == len(self._pipes)

    def _heard(self, rank: int, message: Message) -> Iterator[Event]:
        assert self.run
        match message:
            case Began(process):
                first = not self._began
                self._began[rank] = process
                if first:
                    yield Started(self.run)
            case Told(text):
                yield Noted(self.run, text)
            case Reached(step):
                before = min(self._steps)
                self._steps[rank] = step
                if min(self._steps) > before:
                    yield Stepped(self.run, min(self._steps))
            case Ended() | Broke():
                self._ends[rank] = message
                if isinstance(message, Broke) and self._deadline is None:
                    patience = DEATH_SECONDS if message.lost else GRACE_SECONDS
                    self._deadline = time.monotonic() + patience

    def _end(self) -> Event:
        """All processes have ended their part."""
        assert self.run
        run, first = self.run, self._ends[0]
        if any(isinstance(end, Broke) for end in self._ends.values()):
            if any(isinstance(end, Broke) and end.lost for end in self._ends.values()):
                return self._give_up(self._first_failure())
            failed = self._first_failure_of(run)
            self.run, self.broken = None, failed.interrupted
            return failed
        assert isinstance(first, Ended)
        assert first.measured, "the first process measures"
        self.run = None
        return Finished(run, first.measured.record, first.measured.ranks)

    def _give_up(self, failed: Failed) -> Failed:
        self.run, self.broken = None, True
        return failed

    def _first_failure(self) -> Failed:
        assert self.run
        return self._first_failure_of(self.run)

    def _first_failure_of(self, run: Run) -> Failed:
        """The first process that failed; before those that only lost contact with it."""
        failures = [(rank, end) for rank, end in self._ends.items() if isinstance(end, Broke)]
        rank, broke = min(failures, key=lambda each: each[1].lost)
        alike = len({end.reason for _, end in failures}) == 1 and len(failures) == len(self._pipes)
        where = "" if broke.diverged or broke.interrupted or (alike and not broke.lost) else f"process of rank {rank}: "
        log = f"; see {self.logs[rank]}" if broke.lost else ""
        return Failed(run, f"{where}{broke.reason}{log}", broke.traceback, broke.diverged, broke.interrupted)

    def _death_of_single(self) -> Failed:
        assert self.run is not None, "only workers with a run are read from"
        self._keeper.join()
        return Failed(self.run, f"its worker process died ({how(self._keeper.exitcode or 0)}); see {self.logs[0]}")

    def _death(self) -> Failed:
        assert self.run
        assert self._report
        try:
            death: Death = self._report.recv()
        except (EOFError, OSError):
            self._keeper.join(timeout=GRACE_SECONDS)
            code = self._keeper.exitcode or 0
            return Failed(self.run, f"the launcher of its processes died ({how(code)}); see {self.logs[-1]}")
        self._ending, log = True, self.logs[death.rank]
        return Failed(
            self.run,
            f"its process of rank {death.rank} died ({how(death.code)}{timed_out(log)}); see {log}. "
            f"The run's other processes were ended.",
        )


def how(code: int) -> str:
    """How a process ended, by its exit code."""
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def timed_out(log: Path) -> str:
    """What to add if the process ended itself because the others did not answer."""
    if log.exists() and TIMED_OUT in log.read_text("utf-8", errors="replace"):
        return ", because another process did not answer in time"
    return ""
