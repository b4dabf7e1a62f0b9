"""Processes in which the libraries are imported already, which costs ten seconds of a processor: a fork of one that is.

`python()` is a program that takes what Python takes and runs it in such a process. `use()` lets workers of pools and
conformance's two processes start so. All are forks of multiprocessing's server, which never computed anything.
tests/e2e starts processes as a user's computer does.
"""

import array
import atexit
import json
import multiprocessing
import os
import runpy
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import wait
from multiprocessing.forkserver import _forkserver, ensure_running
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.spawn import start_processes

from benchsuite.conformance import processes
from benchsuite.execution import group

CLIENT = Path(__file__).with_name("warm_client.py")
SERVER = ("_forkserver_address", "_forkserver_authkey")
"""What a process has to know of multiprocessing's server."""
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["support.warm_imports"])


def use() -> None:
    """From here on, the suite starts its processes so."""
    if torch.cuda.is_available():  # which does not survive a fork
        return
    group.multiprocessing = Workers  # type: ignore[assignment]
    processes.spawn = spawn  # type: ignore[assignment]


@cache
def _serving() -> None:
    """Start multiprocessing's server where it finds the modules of tests."""
    if _forkserver._forkserver_address:
        return
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), before]))
    try:
        ensure_running()
    finally:
        del os.environ["PYTHONPATH"]
        os.environ.update({"PYTHONPATH": before} if before else {})


class Workers:
    """Starts processes as `multiprocessing` does, whatever the way that is asked for."""

    @classmethod
    def get_context(cls, method: str) -> type["Workers"]:
        return cls

    @staticmethod
    def Process(target: Callable[..., object], args: tuple[Any, ...]) -> Any:  # noqa: N802
        _serving()
        return CONTEXT.Process(target=_as_here, args=(dict(os.environ), target, args))


def spawn(function: Callable[..., object], args: tuple[Any, ...] = (), nprocs: int = 2) -> None:
    """Stands in the place of torch's function of that name: each process is given its number, then the arguments."""
    _serving()
    start_processes(_numbered, (dict(os.environ), function, args), nprocs, start_method="forkserver")  # type: ignore[no-untyped-call]


def _numbered(number: int, environment: dict[str, str], function: Callable[..., object], args: tuple[Any, ...]) -> None:
    _as_here(environment, function, (number, *args))


def _as_here(environment: dict[str, str], target: Callable[..., object], args: tuple[Any, ...]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    target(*args)


@cache
def python() -> str:
    """The program. What it runs is not ended with it."""
    if torch.cuda.is_available():
        return sys.executable
    _serving()
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    listener.listen()
    known = {name: getattr(_forkserver, name) for name in SERVER if hasattr(_forkserver, name)}
    server = CONTEXT.Process(target=_serve, args=(listener, known))
    server.start()
    atexit.register(server.terminate)  # before multiprocessing waits for it
    listener.close()
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{CLIENT}" "{folder / "socket"}" "$@"\n')
    program.chmod(0o755)
    return str(program)


def _serve(listener: socket.socket, known: dict[str, Any]) -> None:
    """Until the tests end. Processes that are started by what runs here are forks of the same server as it is.

    A fork of one that computed may wait for ever. Python would start another server in each process that asks.
    """
    for name, value in known.items():
        setattr(_forkserver, name, value)
    _forkserver.ensure_running = lambda: None  # type: ignore[method-assign]
    use()
    parent = multiprocessing.parent_process()
    assert parent is not None
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while parent.sentinel not in (ready := wait([listener, parent.sentinel])):
        assert ready
        asked, _ = listener.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if (child := os.fork()) == 0:
                os._exit(_answer(asked))
            asked.sendall(bytes([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255]))
            os._exit(0)
        asked.close()


def _answer(asked: socket.socket) -> int:
    """Run what was asked for; the exit code."""
    content, ancillary, _, _ = asked.recvmsg(2**20, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    given = json.loads(content)
    for number, file in enumerate(array.array("i", ancillary[0][2])):
        os.dup2(file, number)
    sys.stdin, sys.stdout, sys.stderr = (open(number, "w" if number else "r", closefd=False) for number in range(3))  # noqa: SIM115
    os.chdir(given["folder"])
    os.environ.clear()
    os.environ.update(given["environment"])
    return _run(given["arguments"])


def _run(arguments: list[str]) -> int:
    paths = [] if arguments[0] == "-P" else [""]
    arguments = arguments[arguments[0] == "-P" :]
    sys.path[:0] = [*paths, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    code = 0
    try:
        if arguments[0] == "-c":
            sys.argv = ["-c", *arguments[2:]]
            exec(arguments[1], {"__name__": "__main__"})
        elif arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code
