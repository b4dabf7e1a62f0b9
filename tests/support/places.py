"""Commands in a folder of their own, as a user types them there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import benchsuite
from benchsuite.cli import main
from support.commands import exit_code
from support.forked import Forked

LONG = "a-name-of-thirty-characters-is"
HOME = str(Path(benchsuite.__file__).parents[1])


@dataclass(frozen=True)
class Place:
    """A folder, and where packages are installed beside the suite."""

    folder: Path
    packages: Path | None = None

    def suite(self, *arguments: str, code: int = 0) -> str:
        """What `benchsuite ARGUMENTS` prints; it must end with the code. With packages, in a process that has them."""
        if self.packages:
            return self._forked(arguments, main, code)
        with chdir(self.folder), redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            ended = exit_code(*arguments)
        assert ended == code, out.getvalue() + err.getvalue()
        return out.getvalue() if code == 0 else err.getvalue()

    def tests(self, *files: str) -> str:
        """What pytest says of the files; all must pass."""
        return self._forked(["-q", "-p", "no:cacheprovider", *files], pytest.main)

    def _forked(self, words: Sequence[str], program: Callable[..., object], code: int = 0) -> str:
        packages = [str(self.packages)] if self.packages else []
        ended, out, err = Forked(words, self.folder, partial(_with_packages, packages, program)).communicate()
        assert ended == code, out + err
        return out if code == 0 else err

    def styled(self) -> None:
        """Ruff finds nothing, as it comes."""
        ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        assert ruff, "ruff is one of the tests' packages"
        for words in (["check"], ["format", "--check", "--diff"]):
            done = subprocess.run(
                [ruff, *words, "--no-cache", "."], cwd=self.folder, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr


def _with_packages(packages: Sequence[str], program: Callable[..., Any], words: Sequence[str]) -> Any:
    """The program where the packages are installed; those that it starts have them too."""
    sys.path[:0] = packages
    os.environ["PYTHONPATH"] = os.pathsep.join([*packages, HOME])
    return program([*words])
