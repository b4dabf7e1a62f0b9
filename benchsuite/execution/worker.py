"""Processes that take tickets, one after another: a single one, or several with a launcher.

Importing the libraries and building the process group costs each process ten seconds or more, and a training at smoke
takes two. Nothing heavy is imported here before a process has its environment.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from benchsuite.workers import end_with_parent

if TYPE_CHECKING:
    from benchsuite.execution.ticket import TicketFolder

LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What a launcher from outside says, which is not meant for the processes that are started here."""
TERMINATED = 128 + signal.SIGTERM
"""Exit code after SIGTERM, as shells have it."""
LOOK_SECONDS = 0.02
"""Between two looks for the next ticket."""
LOST_SECONDS = 90
"""How long a process that lost contact leaves the answer to whoever knows why, such as a launcher that saw one die."""
TIMED_OUT = "collective operation timeout"
"""What NCCL writes before it ends a process that waited too long."""


@dataclass(frozen=True)
class Desk:
    """Where processes find their tickets, numbered from 0, and how they work."""

    folder: Path
    threads: int
    environment: Mapping[str, str]
    logs: Sequence[Path]
    """Of each process; then, where there are several, of their launcher."""

    @property
    def processes(self) -> int:
        """How many do each run."""
        return max(1, len(self.logs) - 1)

    def ticket(self, number: int) -> "TicketFolder":
        from benchsuite.execution.ticket import TicketFolder

        return TicketFolder(self.folder / str(number))

    @property
    def last(self) -> "TicketFolder":
        """The one that was written last."""
        return self.ticket(max((int(path.name) for path in self.folder.glob("[0-9]*")), default=0))

    @property
    def _closed(self) -> Path:
        return self.folder / "closed"

    def close(self) -> None:
        """There are no more: idle processes end."""
        self._closed.touch()

    def awaits(self, number: int) -> bool:
        """Wait for the ticket of that number; whether there will be one."""
        while not (there := self.ticket(number).written) and not self._closed.exists():
            time.sleep(LOOK_SECONDS)
        return there


def work(desk: Desk) -> None:
    """What a new process does: take the tickets of the desk, or start several that do."""
    for name in LAUNCHERS:
        os.environ.pop(name, None)
    own = {"OMP_NUM_THREADS": str(desk.threads), "TOKENIZERS_PARALLELISM": "false"}
    os.environ.update({**own, **desk.environment})
    if desk.processes == 1:
        serve(desk)
    else:
        launch(desk)


def serve(desk: Desk) -> None:
    """Take one ticket after another, until the desk is closed or a training is interrupted.

    One of several processes that fails ends: the others, which would wait for it, are ended by their launcher.
    """
    stay_out_of_the_terminal(desk.logs[int(os.environ.get("LOCAL_RANK", "0"))])
    import torch

    from benchsuite.execution.attempt import Reporter, attempt
    from benchsuite.execution.ticket import Failure
    from benchsuite.training.distributed import leave_processes

    torch.set_num_threads(desk.threads)
    for number in count():
        if not desk.awaits(number):
            break
        folder = desk.ticket(number)
        end = attempt(folder, Reporter(folder))
        if isinstance(end, Failure) and end.lost:
            time.sleep(LOST_SECONDS)
        folder.answer(end)
        if isinstance(end, Failure) and end.interrupted:
            break
        if isinstance(end, Failure) and desk.processes > 1:
            sys.exit(1)
    leave_processes()


def launch(desk: Desk) -> None:
    """Start several processes by torch's elastic launch, wait for them, end all if one dies, and say which one.

    SIGTERM goes to all of them: a training may take longer to be saved than the launch would wait.
    """
    stay_out_of_the_terminal(desk.logs[-1])
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    from benchsuite.execution.ticket import Failure

    with tempfile.TemporaryDirectory() as folder:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=desk.processes,
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            max_restarts=0,
            local_addr="localhost",
            logs_specs=DefaultLogsSpecs(folder),
            signals_to_handle="SIGHUP",
        )
        signal.signal(signal.SIGTERM, _terminate_children)
        try:
            elastic_launch(config, serve)(desk)
        except ChildFailedError as error:
            rank, death = error.get_first_failure()
            log = desk.logs[rank]
            reason = f"its process of rank {rank} died ({how(death.exitcode)}{timed_out(log)}); see {log}. "
            desk.last.answer(Failure(reason=f"{reason}The run's other processes were ended."))


def _terminate_children(*_: object) -> None:
    for process in multiprocessing.active_children():
        process.terminate()


def stay_out_of_the_terminal(log: Path) -> None:
    """Send what libraries print to a file, and end with the parent. It handles Ctrl-C, and then sends SIGTERM.

    On SIGTERM exit with a code that is not 0: torch's elastic launch takes 0 for a result, and waits. A training
    heeds the signal itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(target, sys.stdout.fileno())
    os.dup2(target, sys.stderr.fileno())
    end_with_parent()


def how(code: int) -> str:
    """How a process ended, by its exit code."""
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def timed_out(log: Path) -> str:
    """What to add if the process ended itself because the others did not answer."""
    if log.exists() and TIMED_OUT in log.read_text("utf-8", errors="replace"):
        return ", because another process did not answer in time"
    return ""
