"""Runs that are measured in this process, without workers."""

from collections.abc import Generator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from benchsuite.execution.events import Event, Finished, Started
from benchsuite.execution.measure import measure
from benchsuite.execution.pool import Pool
from benchsuite.planning.plan import Run
from support.commands import exit_code


class InProcess(Pool):
    """Takes the place of `benchsuite.work.session.Pool`."""

    def execute(self, runs: Sequence[Run]) -> Generator[Event, None, None]:
        for run in runs:
            yield Started(run)
            yield Finished(run, *measure(run, folder=self.saving.folder(run.run_id) if self.saving else None))


def in_this_process(folder: Path, *arguments: str) -> str:
    """What `benchsuite ARGUMENTS` prints in a folder, progress too; it must succeed."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out, redirect_stderr(out):
        patch.setattr("benchsuite.work.session.Pool", InProcess)
        patch.chdir(folder)
        code = exit_code(*arguments)
    assert code == 0, out.getvalue()
    return out.getvalue()
