"""Runs that are measured in this process, without workers."""

from collections.abc import Generator, Sequence

from benchsuite.execution.events import Event, Finished, Started
from benchsuite.execution.measure import measure
from benchsuite.execution.pool import Pool
from benchsuite.planning.plan import Run


class InProcess(Pool):
    """Takes the place of `benchsuite.work.workplace.Pool`."""

    def execute(self, runs: Sequence[Run]) -> Generator[Event, None, None]:
        for run in runs:
            yield Started(run)
            yield Finished(run, *measure(run, folder=self.saving.folder(run.run_id) if self.saving else None))
