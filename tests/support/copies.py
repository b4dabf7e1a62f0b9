"""Functions in a copy of this process: with file systems or process numbers of its own, or killed at some moment.

A copy needs no imports, which are most of a command's time. File systems of one's own need root, or user namespaces,
which most Linux systems give to everyone.
"""

import ctypes
import io
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from support.commands import exit_code

SECONDS = 120
"""After which a copy is taken for hanging, and killed."""
NEWNS, NEWUSER, NEWPID = 0x00020000, 0x10000000, 0x20000000
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="namespaces and copies of a process are Linux's")


class NotAllowedError(Exception):
    """The system gives no namespaces to this user."""


class Copy:
    """A copy of this process that does some work, and nothing else."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._from, to = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(SECONDS)
                try:
                    answer: Any = work()
                except BaseException as error:
                    traceback.print_exc()
                    answer = error
                with os.fdopen(to, "wb") as to_parent:
                    pickle.dump(answer, to_parent)
            finally:
                os._exit(0)
        os.close(to)

    def result(self) -> Any:
        """What the work gave or raised. The test is skipped where it needs what is not allowed."""
        with os.fdopen(self._from, "rb") as answer:
            found = answer.read()
        _, code = os.waitpid(self.process, 0)
        assert found, f"the copy ended by signal {os.WTERMSIG(code)}; {signal.SIGALRM} means that it hung"
        value = pickle.loads(found)
        if isinstance(value, NotAllowedError):
            pytest.skip(f"{value}: needs root, or user namespaces")
        if isinstance(value, BaseException):
            raise value
        return value

    def kill(self) -> bool:
        """Kill it now; whether it was still at work."""
        os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        os.close(self._from)
        return os.WIFSIGNALED(status)


def in_a_copy(work: Callable[[], Any]) -> Any:
    """What a function gives in a copy of this process."""
    return Copy(work).result()


def as_process_1(work: Callable[[], Any]) -> Callable[[], Any]:
    """The work in a container's namespace, in which its process has number 1 as in every other."""

    def contained() -> Any:
        unshare(NEWPID)

        def first() -> Any:
            assert os.getpid() == 1
            return work()

        return in_a_copy(first)

    return contained


def unshare(what: int) -> None:
    """Of this process, which must be a copy."""
    users = NEWUSER if os.geteuid() else 0
    if ctypes.CDLL(None, use_errno=True).unshare(what | users):
        raise NotAllowedError(f"namespaces: {os.strerror(ctypes.get_errno())}")


def mount(folder: Path, options: str) -> None:
    """A file system of this copy alone."""
    unshare(NEWNS)
    make = [["mount", "--make-rprivate", "/"]] if os.geteuid() == 0 else []
    for command in (*make, ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotAllowedError(f"a file system of its own: {done.stderr.strip()}")


def command(*arguments: object) -> tuple[int, str]:
    """Exit code and errors of `benchsuite ARGUMENTS`."""
    with redirect_stderr(io.StringIO()) as told, redirect_stdout(io.StringIO()):
        code = exit_code(*arguments)
    return code, told.getvalue()


def files(folder: Path) -> dict[str, bytes]:
    """Everything but locks, which stay."""
    found = (file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(".lock"))
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}
