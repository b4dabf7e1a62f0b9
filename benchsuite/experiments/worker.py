"""A process that does runs: imports the heavy libraries once, then does one run after another, alone or in a group."""

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from benchsuite.errors import BenchsuiteError, DivergedError
from benchsuite.experiments.events import unexpected
from benchsuite.experiments.plan import Run
from benchsuite.workers import end_with_parent

if TYPE_CHECKING:
    from benchsuite.experiments.measure import Measured


@dataclass(frozen=True)
class Began:
    """A process took a run."""


@dataclass(frozen=True)
class Reached:
    """A process finished so many steps."""

    step: int


@dataclass(frozen=True)
class Ended:
    """A process finished its part of a run; the first one of a group has measured."""

    measured: "Measured | None"


@dataclass(frozen=True)
class Broke:
    """A process ended a run without a record."""

    reason: str
    traceback: str = ""
    diverged: bool = False
    lost: bool = False
    """Whether it only lost contact with another one, which may have died."""


TERMINATED = 128 + signal.SIGTERM
"""Exit code after SIGTERM, as shells have it."""
Message = Began | Reached | Ended | Broke


@dataclass(frozen=True)
class Place:
    """Where a process works: its threads, plugins, log, and the folder with a folder for each run."""

    threads: int
    plugins: Sequence[Path]
    log: Path
    folder: Path | None = None


def serve(pipe: Connection, place: Place) -> None:
    """Answer each run that comes through the pipe with messages, until None comes."""
    stay_out_of_the_terminal(place.log)
    end_with_parent()
    from benchsuite.registry import load_plugin

    for plugin in place.plugins:
        load_plugin(plugin)
    import torch

    from benchsuite.training.distributed import leave_processes

    torch.set_num_threads(place.threads)
    while (run := pipe.recv()) is not None:
        pipe.send(Began())
        pipe.send(attempt(run, pipe, place.folder))
    leave_processes()


def serve_in_group(pipes: Sequence[Connection], places: Sequence[Place]) -> None:
    """The same as one process of a group, which the elastic launcher has given its rank."""
    rank = int(os.environ["LOCAL_RANK"])
    for number, pipe in enumerate(pipes):
        if number != rank:
            pipe.close()
    serve(pipes[rank], places[rank])


def attempt(run: Run, pipe: Connection, folder: Path | None) -> Message:
    """Do this process's part of a run; how it ended."""
    from benchsuite.experiments.measure import take_part
    from benchsuite.training.distributed import lost_contact

    try:
        return Ended(take_part(run, lambda step: pipe.send(Reached(step)), folder and folder / run.run_id))
    except BenchsuiteError as error:
        return Broke(str(error), diverged=isinstance(error, DivergedError))
    except Exception as error:
        lost = lost_contact(error)
        return Broke(lost or unexpected(error), traceback.format_exc(), lost=bool(lost))


def stay_out_of_the_terminal(log: Path) -> None:
    """Send what libraries print to a file. Ctrl-C is handled by the parent.

    On SIGTERM exit with a code that is not 0: torch's elastic launch takes 0 for a result, and waits.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(target, sys.stdout.fileno())
    os.dup2(target, sys.stderr.fileno())
