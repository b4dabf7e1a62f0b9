"""The `cluster` folder of a results folder: tickets that are in jobs, and what SLURM and submitit write.

cluster.lock          held while jobs are submitted
runs/RUN/JOB/         a run's ticket; JOB is the job's unique name, so that jobs of one run never mix
runs/RUN/JOB/job.json its job's id, and its place in the job's array
slurm/                scripts, logs
"""

from collections.abc import Collection
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Literal

from benchsuite.errors import UsageError
from benchsuite.execution.ticket import TicketFolder, read_json
from benchsuite.files import write_whole
from benchsuite.locks import locked
from benchsuite.records.names import stem
from benchsuite.setup import Part

SUBMITTING_SECONDS = 600.0
"""How long another command may take to submit its jobs."""


class Submitted(Part):
    """The job of a run, as `job.json` has it."""

    file_format: Literal[1] = 1
    job: str | None = None
    """Its id; none between the decision to submit it and SLURM's answer."""
    index: int
    """Its place in the array."""


class JobFolder(TicketFolder):
    """A ticket that is in a job."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.name = folder.name
        """The job's; unique for each submission."""
        self._job = folder / "job.json"

    @property
    def submitted(self) -> Submitted:
        return read_json(self._job, Submitted)

    def submit(self, submitted: Submitted) -> None:
        write_whole(self._job, submitted.model_dump_json().encode())

    def remove(self) -> None:
        """Forget it, and the run's folder."""
        super().remove()
        with suppress(OSError):  # another job of the run is still ending
            self.folder.parent.rmdir()


class ClusterFolder:
    """All of a results folder."""

    def __init__(self, results: Path) -> None:
        self.results = results.resolve()
        self.folder = self.results / "cluster"
        self.slurm, self._runs = self.folder / "slurm", self.folder / "runs"

    def run(self, run: str, name: str) -> JobFolder:
        """A run's ticket in the job of that name."""
        return JobFolder(self._runs / run / name)

    def jobs(self) -> dict[str, JobFolder]:
        """Those of the runs that are in a job."""
        return {file.parents[1].name: JobFolder(file.parent) for file in sorted(self._runs.glob("*/*/job.json"))}

    def alone(self) -> AbstractContextManager[None]:
        """While no other command changes which run is in which job."""
        return locked(self.folder / "jobs.lock", SUBMITTING_SECONDS)

    def log(self, job: str) -> Path:
        """What the first process of a job printed, and SLURM about the job."""
        return self.slurm / f"{job}_0_log.out"

    def forget_stored(self) -> None:
        """Remove what jobs left of runs whose records are stored: of a command that ended between the two."""
        for file in self._runs.glob("*/*/record.json"):
            folder = JobFolder(file.parent)
            with suppress(UsageError):
                run = folder.ticket().run
                if (self.results / f"{stem(run.method.name, run.seed, run.run_id)}.json").exists():
                    folder.remove()

    def clean(self, job: str, others: Collection[str]) -> None:
        """Remove what submitit wrote of a job, and of its array if it was the last. Logs of failed jobs are kept.

        A job writes its result, which nobody reads, after what came of the run: those of earlier jobs go too.
        """
        for file in (*self.slurm.glob(f"{job}_*_log.out"), *self.slurm.glob("*_result.pkl")):
            file.unlink(missing_ok=True)
        self.slurm.joinpath(f"{job}_submitted.pkl").unlink(missing_ok=True)
        array = job.partition("_")[0]
        if not any(other.partition("_")[0] == array for other in others):
            self.slurm.joinpath(f"{array}_submission.sh").unlink(missing_ok=True)
            for link in self.slurm.glob(".submission_file_*.sh"):  # submitit's, to what was just removed
                if not link.exists():
                    link.unlink(missing_ok=True)
