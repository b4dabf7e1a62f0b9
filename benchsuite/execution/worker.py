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

from benchsuite.errors import BenchsuiteError, DivergedError, Interrupted
from benchsuite.execution.events import unexpected
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import Saving
from benchsuite.workers import end_with_parent

if TYPE_CHECKING:
    from benchsuite.execution.measure import Measured


@dataclass(frozen=True)
class Began:
    """A process took a run."""

    process: int
    """Its number in the operating system."""


@dataclass(frozen=True)
class Reached:
    """A process finished so many steps."""

    step: int


@dataclass(frozen=True)
class Told:
    """What a user should know about the run."""

    text: str


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
    interrupted: bool = False
    """Whether it was asked to stop."""


TERMINATED = 128 + signal.SIGTERM
"""Exit code after SIGTERM, as shells have it."""
Message = Began | Reached | Told | Ended | Broke


@dataclass(frozen=True)
class Place:
    """Where a process works: its threads, plugins, log, and where each run has a folder and is saved."""

    threads: int
    plugins: Sequence[Path]
    log: Path
    saving: Saving | None = None


def serve(pipe: Connection, place: Place) -> None:
    """Answer each run that comes through the pipe with messages, until None comes or a training is interrupted."""
    stay_out_of_the_terminal(place.log)
    end_with_parent()
    from benchsuite.registry import load_plugin

    for plugin in place.plugins:
        load_plugin(plugin)
    import torch

    from benchsuite.training.distributed import leave_processes

    torch.set_num_threads(place.threads)
    while (run := pipe.recv()) is not None:
        pipe.send(Began(os.getpid()))
        end = attempt(run, pipe, place.saving)
        pipe.send(end)
        if isinstance(end, Broke) and end.interrupted:
            break
    leave_processes()


def serve_in_group(pipes: Sequence[Connection], places: Sequence[Place]) -> None:
    """The same as one process of a group, which the elastic launcher has given its rank."""
    rank = int(os.environ["LOCAL_RANK"])
    for number, pipe in enumerate(pipes):
        if number != rank:
            pipe.close()
    serve(pipes[rank], places[rank])


def attempt(run: Run, pipe: Connection, saving: Saving | None) -> Message:
    """Do this process's part of a run; how it ended."""
    from benchsuite.execution.measure import take_part
    from benchsuite.training.distributed import lost_contact

    folder, every = (saving.folder(run.run_id), saving.every) if saving else (None, None)
    try:
        watch, note = (lambda step: pipe.send(Reached(step))), (lambda text: pipe.send(Told(text)))
        return Ended(take_part(run, watch, folder, note, every))
    except Interrupted as error:
        return Broke(str(error), interrupted=True)
    except BenchsuiteError as error:
        return Broke(str(error), diverged=isinstance(error, DivergedError))
    except Exception as error:
        lost = lost_contact(error)
        return Broke(lost or unexpected(error), traceback.format_exc(), lost=bool(lost))


def stay_out_of_the_terminal(log: Path) -> None:
    """Send what libraries print to a file. Ctrl-C is handled by the parent, which then sends SIGTERM.

    On SIGTERM exit with a code that is not 0: torch's elastic launch takes 0 for a result, and waits. A training
    heeds the signal itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(target, sys.stdout.fileno())
    os.dup2(target, sys.stderr.fileno())
