"""Runs as jobs of a SLURM cluster, one run a job. Jobs outlive the command; the same command finds them again."""

import time
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from uuid import uuid4

from benchsuite.cluster import slurm
from benchsuite.cluster.job import attend
from benchsuite.cluster.options import ClusterOptions, Layout
from benchsuite.cluster.slurm import JobState
from benchsuite.errors import BenchsuiteError, RunError
from benchsuite.execution.events import Event, Failed, Finished, Queued
from benchsuite.execution.ticket import Ticket, TicketFolder, Watched, read_json
from benchsuite.files import locked, write_whole
from benchsuite.grouping import by_key
from benchsuite.parts import Part
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import EVERY, Every, Saving
from benchsuite.records.listing import is_stored
from benchsuite.records.names import record_name
from benchsuite.records.record_file import read_record
from benchsuite.records.schema import knows

LOOK_SECONDS = 1.0
"""Between two looks at the files of jobs."""
ASK_SECONDS = (2.0, 30.0)
"""Between two questions to SLURM: at first, and after some minutes."""
LATE_SECONDS = 10.0
"""How long a shared file system may take to show what a job wrote before it ended."""
SILENT_SECONDS = 1800.0
"""How long SLURM may not answer before the command gives up watching."""
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
    """The `cluster` folder of a results folder: tickets that are in jobs, and what SLURM and submitit write.

    jobs.lock             held while jobs are submitted
    runs/RUN/JOB/         a run's ticket; JOB is the job's unique name, so that jobs of one run never mix
    runs/RUN/JOB/job.json its job's id, and its place in the job's array
    slurm/                scripts, logs
    """

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
        """Remove what jobs left of runs whose records are stored, and not older: a command ended between the two."""
        for file in self._runs.glob("*/*/record.json"):
            folder = JobFolder(file.parent)
            with suppress(BenchsuiteError):
                run = folder.ticket().run
                stored = self.results / record_name(run)
                if is_stored(stored) and knows(read_record(stored), run):
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


class Job(Watched):
    """A run whose job waits or runs, and what was told of it."""

    folder: JobFolder

    def __init__(self, run: Run, folder: JobFolder) -> None:
        super().__init__(run, folder)
        self.id = folder.submitted.job or ""
        """Empty if SLURM's answer is not known and the job is over."""
        self.ended: float | None = None
        """When SLURM said first that the job is over."""
        self.how = ""
        """Its last state."""
        self.obstacle = ""

    def heed(self, known: Mapping[str, JobState]) -> Iterator[Event]:
        """What SLURM just said of it."""
        state = known.get(self.id)
        gone = state is None or not state.alive
        self.how = state.state if state else self.how
        self.ended = (self.ended or time.monotonic()) if gone else None
        if state and state.obstacle != self.obstacle:
            self.obstacle = state.obstacle
            if state.obstacle:
                yield Queued(self.run, self.id, state.obstacle)


@dataclass
class Cluster:
    """Submits runs and watches their jobs. `results` is a folder that the cluster's nodes see too."""

    options: ClusterOptions
    results: Path
    plugins: Sequence[Path] = ()
    max_jobs: int | None = None
    """How many jobs run at a time."""
    every: Every | None = EVERY
    """How often a long training is saved; None: never."""
    jobs: list[Job] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.files = ClusterFolder(self.results)

    def execute(self, runs: Sequence[Run]) -> Generator[Event, None, None]:
        """Collect what earlier jobs measured, submit what is in no job, and yield what happens.

        Leaving the loop early leaves the jobs alone.
        """
        with slurm.uninterrupted():
            self._take_up(runs)
        yield from (Queued(job.run, job.id) for job in self.jobs if job.id)
        begun = asked = time.monotonic()
        known: Mapping[str, JobState] | None = None
        while self.jobs:
            for job in list(self.jobs):
                for event in self._look(job, known):
                    yield event
                    if isinstance(event, Finished | Failed):
                        self._forget(job, isinstance(event, Finished))
            if not self.jobs:
                return
            time.sleep(LOOK_SECONDS)
            known, now = None, time.monotonic()
            if now - asked > min(ASK_SECONDS[1], max(ASK_SECONDS[0], (now - begun) / 20)):
                try:
                    known, asked = slurm.states(), now
                except RunError as error:
                    if now - asked > SILENT_SECONDS:
                        raise RunError(f"{error} Its jobs go on.", more=self.left()) from error

    def left(self) -> list[str]:
        """How to watch, cancel and collect the jobs that are left, in lines; empty if none are."""
        jobs = [job.id for job in self.jobs]
        if not jobs:
            return []
        arrays = list(dict.fromkeys(job.partition("_")[0] for job in jobs))
        several = f"{len(jobs)} jobs go on" if len(jobs) > 1 else "1 job goes on"
        return [
            f"{several}.",
            f"  watch:   squeue --jobs {','.join(arrays)}",
            f"  cancel:  scancel {' '.join(shortened(jobs))}",
            "  collect: the same command",
        ]

    def _take_up(self, runs: Sequence[Run]) -> None:
        """Find the jobs of earlier calls, and submit runs that are in none."""
        with self.files.alone():
            self.files.forget_stored()
            known, jobs = slurm.states(), self.files.jobs()
            for run_id, folder in list(jobs.items()):
                submitted = folder.submitted
                if found := job_of(folder.name, submitted, known):
                    folder.submit(submitted.model_copy(update={"job": found}))
                elif not folder.answered:  # lost: never submitted, cancelled, or its node died
                    jobs.pop(run_id).remove()
            taken = {folder.submitted.job for folder in jobs.values()}
            mine = {state.job.partition("_")[0] for state in known.values() if state.alive and state.job in taken}
            jobs |= self._submit([run for run in runs if run.run_id not in jobs], sorted(mine))
            self.jobs += [Job(run, jobs[run.run_id]) for run in runs]

    def _submit(self, runs: Sequence[Run], mine: Sequence[str]) -> dict[str, JobFolder]:
        """Submit all or none. What is about to be submitted is written before, so that it is found again."""
        groups = grouped(runs, self.options, slurm.largest_array() if runs else 1)
        after = mine
        folders: dict[str, JobFolder] = {}
        submitted: list[str] = []
        plugins, saving = tuple(self.plugins), Saving(self.files.results, self.every)
        try:
            for layout, group in groups:
                name = f"benchsuite-{uuid4().hex[:12]}"
                own = [self.files.run(run.run_id, name) for run in group]
                for index, (run, folder) in enumerate(zip(group, own, strict=True)):
                    folders[run.run_id] = folder
                    folder.write(Ticket.of(run, plugins, saving))
                    folder.submit(Submitted(index=index))
                places = [str(folder.folder) for folder in own]
                before = after if self.max_jobs else ()  # arrays follow each other, so that no more jobs run at a time
                ids = slurm.submit(self.files.slurm, self.options, layout, name, attend, places, self.max_jobs, before)
                submitted, after = [*submitted, *ids], [ids[0].partition("_")[0]]
                for index, (folder, job) in enumerate(zip(own, ids, strict=True)):
                    folder.submit(Submitted(index=index, job=job))
        except BaseException:
            if submitted:
                slurm.cancel(submitted)
            for folder in folders.values():
                folder.remove()
            raise
        return folders

    def _look(self, job: Job, known: Mapping[str, JobState] | None) -> Iterator[Event]:
        """What is new about a run. `known`: what SLURM just said, if it was asked."""
        for event in job.look():
            if isinstance(event, Failed) and job.id and not event.diverged:  # else hyper-parameters are to blame
                event = replace(event, reason=f"{event.reason} (job {job.id}; log: {self.files.log(job.id)})")
            yield event
        if job.end or known is None:
            return
        yield from job.heed(known)
        if job.ended is not None and time.monotonic() - job.ended > LATE_SECONDS:
            yield Failed(job.run, self._lost(job))

    def _lost(self, job: Job) -> str:
        if not job.folder.written:
            return f"its job {job.id} was collected by another command. Repeat the command."
        how = slurm.ending(job.id) or job.how
        ended = f"ended as {how}" if how else "is not known to the cluster any more"
        log = self.files.log(job.id)
        where = f"; log: {log}" if log.exists() else ""
        return f"its job {job.id} {ended} and left no record{where}. The same command submits it again."

    def _forget(self, job: Job, finished: bool) -> None:
        """After the event was stored: the run is in no job any more."""
        self.jobs.remove(job)
        with slurm.uninterrupted(), self.files.alone():
            job.folder.remove()
            if finished and job.id:
                self.files.clean(job.id, [other.id for other in self.jobs])


def grouped(runs: Sequence[Run], options: ClusterOptions, largest: int) -> list[tuple[Layout, list[Run]]]:
    """Runs that can share an array: equal nodes and processes, and no more than an array may have."""
    by_layout = by_key((options.layout(run.setup), run) for run in runs)
    return [
        (layout, same[first : first + largest])
        for layout, same in sorted(by_layout.items(), key=lambda item: item[0])
        for first in range(0, len(same), largest)
    ]


def shortened(jobs: Sequence[str]) -> list[str]:
    """Job ids as scancel reads them: 7_0 and 7_2 as 7_[0,2]."""
    arrays: dict[str, list[str]] = {}
    for job in jobs:
        array, _, index = job.partition("_")
        arrays.setdefault(array, []).extend([index] if index else [])
    return [f"{array}_[{','.join(indices)}]" if indices else array for array, indices in arrays.items()]


def job_of(name: str, submitted: Submitted, known: Mapping[str, JobState]) -> str | None:
    """The job of a run if it waits or runs. SLURM may have taken it although its answer was never written."""
    if submitted.job is not None:
        state = known.get(submitted.job)
        return submitted.job if state and state.alive and state.name == name else None
    named = {state.job for state in known.values() if state.name == name and state.alive}
    alone = named if submitted.index == 0 else set()
    return next((job for job in named if job.endswith(f"_{submitted.index}")), None) or next(
        (job for job in alone if "_" not in job), None
    )
