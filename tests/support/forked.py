"""Commands and groups of processes that need no imports: a server that has done them, and nothing else, forks them.

Imports are most of the time of a process that trains a tiny model. The workers of such a command are forked too; what
a user types, whose workers are spawned, is tested by e2e/test_command_line.py and e2e/test_two_processes.py.
"""

import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import torch
import torch.multiprocessing as mp

from benchsuite.cli import main
from benchsuite.conformance import processes
from benchsuite.execution import pool

CAN_FORK = not torch.cuda.is_available()
"""What has looked at a GPU cannot be forked."""
IMPORTS = ["benchsuite.execution.measure", "benchsuite.work.session", "deepspeed"]
SERVER = multiprocessing.get_context("forkserver")
if CAN_FORK:
    SERVER.set_forkserver_preload(IMPORTS)
in_processes = partial(mp.start_processes, start_method="forkserver")
"""As `torch.multiprocessing.spawn`."""


class Forked:
    """`benchsuite`, or another program, in a folder and a session of its own; its methods are like those of `Popen`."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, program: Callable[..., object] = main, **variables: str
    ) -> None:
        self._told = TemporaryDirectory()
        work = (arguments, folder, {**os.environ, **variables}, self._told.name, program)
        self._process = SERVER.Process(target=_command, args=work)
        self._process.start()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        """The exit code, after the end."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    @property
    def err(self) -> str:
        """Errors so far."""
        return self._text(2)

    def communicate(self, timeout: float | None = None) -> tuple[int, str, str]:
        """After the end: exit code, output and errors."""
        self._process.join(timeout)
        assert self._process.exitcode is not None, f"{timeout} s"
        return self._process.exitcode, self._text(1), self._text(2)

    def _text(self, number: int) -> str:
        file = Path(self._told.name, str(number))
        return file.read_text("utf-8") if file.exists() else ""


def _command(
    arguments: Sequence[str], folder: Path, environment: dict[str, str], told: str, program: Callable[..., Any]
) -> None:
    os.setsid()
    os.chdir(folder)
    os.environ.update(environment)
    for number in (1, 2):
        os.dup2(os.open(Path(told, str(number)), os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if the tests were started in the background
    if CAN_FORK:
        from torch.distributed.launcher import api as launcher

        forks = multiprocessing.get_context("fork")
        pool.multiprocessing = SimpleNamespace(get_context=lambda _: forks)
        launcher.LaunchConfig = partial(launcher.LaunchConfig, start_method="fork")
        processes.spawn = partial(mp.start_processes, start_method="fork")
    sys.exit(program([*arguments]))


def script(file: Path, words: Sequence[str]) -> None:
    """`python FILE WORDS`, as a program of a command."""
    sys.argv = [str(file), *words]
    sys.path.insert(0, str(file.parent))
    runpy.run_path(str(file), run_name="__main__")
