"""Runs benchsuite again and again in processes with bounded time and memory: forks of one that has imported it.

What one fork breaks, another does not see, and none imports anything again. As a program this is that one process.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SECONDS = 30
"""Of processor time that a command may take."""
WAITING = 120
"""Seconds after which a command waits for what never comes: a machine may be busy with other work."""
MEMORY = 1 << 30
"""Bytes of resident memory that a command may take."""
MAPPED = 6 << 30
"""Bytes of address space: what asks for more fails, and the machine is not harmed."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int | None
    """None if a signal ended it."""
    signal: int | None
    seconds: float
    memory: int
    out: str
    err: str

    @property
    def fault(self) -> str:
        """What must not happen; empty if nothing of it did."""
        if self.signal:
            return f"ended by {signal.Signals(self.signal).name}"
        if self.code not in (0, 1, 2):
            return f"exit code {self.code}: {self.err.strip().splitlines()[-1:]}"
        if self.memory > MEMORY:
            return f"took {self.memory >> 20} MB"
        return ""


class Bounded:
    """Runs commands of benchsuite; to be closed."""

    def __init__(self, sound: Path, *options: str) -> None:
        """`sound`: a folder whose `results` are validated and shown once, so that the forks find all that is cached.

        `options` of `verify`, whose imports they find too.
        """
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), str(sound), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def run(self, folder: Path, *command: str) -> Outcome:
        """`benchsuite COMMAND` in a folder."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([str(folder), command]) + "\n")
        self._process.stdin.flush()
        return Outcome(**json.loads(self._process.stdout.readline()))


def serve(sound: Path, *options: str) -> None:
    """Answer requests until there are no more."""
    from benchsuite.cli import main

    with redirect_stdout(sys.stderr), suppress(SystemExit):
        main(["verify", str(sound / "results"), *options])
        main(["report", "--results", str(sound / "results"), "--report", str(sound / "site")])
    for line in sys.stdin:
        folder, command = json.loads(line)
        sys.stdout.write(json.dumps(_answer(Path(folder), command)) + "\n")
        sys.stdout.flush()


def _answer(folder: Path, command: list[str]) -> dict[str, Any]:
    outputs = [os.memfd_create(name) for name in ("out", "err")]
    start = time.monotonic()
    child = os.fork()
    if not child:
        _run(folder, command, outputs)
    _, status, used = os.wait4(child, 0)
    out, err = (_content(output) for output in outputs)
    return {
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        "seconds": time.monotonic() - start,
        "memory": used.ru_maxrss << 10,
        "out": out,
        "err": err,
    }


def _content(output: int) -> str:
    with open(output, "rb") as file:
        file.seek(0)
        return file.read(100_000).decode(errors="backslashreplace")


def _run(folder: Path, command: list[str], outputs: list[int]) -> None:
    """The command, in this process, which ends with it."""
    code = 70
    try:
        for output, standard in zip(outputs, (1, 2), strict=True):
            os.dup2(output, standard)
        resource.setrlimit(resource.RLIMIT_AS, (MAPPED, MAPPED))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.alarm(WAITING)
        os.chdir(folder)
        from benchsuite.cli import main

        main([*command, "--debug"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), *sys.argv[2:])
