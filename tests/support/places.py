"""Commands in a folder of their own, as a user types them there."""

import os
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

import benchsuite
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
        if self.packages is None:
            with chdir(self.folder), redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
                ended = exit_code(*arguments)
            assert ended == code, out.getvalue() + err.getvalue()
            return out.getvalue() if code == 0 else err.getvalue()
        return self.run("-c", "from benchsuite.cli import main; main()", *arguments, code=code)

    def tests(self, *files: str) -> str:
        """What pytest says of the files; all must pass."""
        words = ["-q", "-p", "no:cacheprovider", *files]
        if self.packages:
            return self.run("-m", "pytest", *words)
        code, out, err = Forked(words, self.folder, pytest.main).communicate()
        assert code == 0, out + err
        return out

    def run(self, *arguments: str, code: int = 0) -> str:
        """Python with arguments; the current folder is not a place of modules."""
        paths = [*([str(self.packages)] if self.packages else []), HOME]
        done = subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    def styled(self) -> None:
        """Ruff finds nothing, as it comes."""
        ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        assert ruff, "ruff is one of the tests' packages"
        for words in (["check"], ["format", "--check", "--diff"]):
            done = subprocess.run(
                [ruff, *words, "--no-cache", "."], cwd=self.folder, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
