"""Runs as jobs of a SLURM cluster, one run a job. Jobs outlive the command; the same command finds them again."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from benchsuite.cluster import slurm
from benchsuite.cluster.files import ClusterFolder, RunFolder, Submitted, Ticket
from benchsuite.cluster.job import attend
from benchsuite.cluster.options import ClusterOptions, Layout
from benchsuite.cluster.slurm import JobState
from benchsuite.errors import RunError
from benchsuite.execution.events import Event, Failed, Finished, Noted, Queued, Started, Stepped
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import EVERY, Every

LOOK_SECONDS = 1.0
"""Between two looks at the files of jobs."""
ASK_SECONDS = (2.0, 30.0)
"""Between two questions to SLURM: at first, and after some minutes."""
LATE_SECONDS = 10.0
"""How long a shared file system may take to show what a job wrote before it ended."""
SILENT_SECONDS = 1800.0
"""How long SLURM may not answer before the command gives up watching."""


@dataclass
class Watched:
    """A run whose job waits or runs, and what was shown of it."""

    run: Run
    submitted: Submitted
    started: bool = False
    step: int = 0
    note: str = ""
    ended: float | None = None
    """When SLURM said first that the job is over."""
    how: str = ""
    """Its last state."""
    obstacle: str = ""

    @property
    def job(self) -> str:
        """The job's id; empty if SLURM's answer is not known and the job is over."""
        return self.submitted.job or ""


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
    watched: dict[str, Watched] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.files = ClusterFolder(self.results)

    def execute(self, runs: Sequence[Run], planned: Sequence[Run]) -> Generator[Event, None, None]:
        """Collect what earlier jobs measured, submit what is in no job, and yield what happens.

        Leaving the loop early leaves the jobs alone.
        """
        slurm.require_tools()
        slurm.require_partition(self.options)
        with slurm.uninterrupted():
            self._take_up(runs)
        for watched in list(self.watched.values()):
            if watched.job:
                yield Queued(watched.run, watched.job)
        begun = asked = time.monotonic()
        known: Mapping[str, JobState] | None = None
        while self.watched:
            for watched in list(self.watched.values()):
                for event in self._look(watched, known):
                    yield event
                    if isinstance(event, Finished | Failed):
                        self._forget(watched, isinstance(event, Finished))
            if not self.watched:
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
        jobs = [watched.job for watched in self.watched.values()]
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
        with self.files.changing() as jobs:
            self.files.forget_stored()
            known = slurm.states()
            for run_id, submitted in list(jobs.items()):
                folder = self.files.run(run_id, submitted.name)
                if found := _job_of(submitted, known):
                    jobs[run_id] = submitted.model_copy(update={"job": found})
                elif not folder.ended:  # lost: never submitted, cancelled, or its node died
                    folder.remove()
                    del jobs[run_id]
            self._submit([run for run in runs if run.run_id not in jobs], jobs, known)
            self.watched.update({run.run_id: Watched(run, jobs[run.run_id]) for run in runs})

    def _folder(self, watched: Watched) -> RunFolder:
        return self.files.run(watched.run.run_id, watched.submitted.name)

    def _submit(self, runs: Sequence[Run], jobs: dict[str, Submitted], known: Mapping[str, JobState]) -> None:
        """Submit all or none. What is about to be submitted is written before, so that it is found again."""
        groups = grouped(runs, self.options, slurm.largest_array() if runs else 1)
        alive = {state.job.partition("_")[0] for state in known.values() if state.alive}
        mine = {submitted.job.partition("_")[0] for submitted in jobs.values() if submitted.job}
        lanes = [Lane(share, sorted(alive & mine)) for share in shares(self.max_jobs, [len(g) for _, g in groups])]
        submitted: list[str] = []
        folders: list[RunFolder] = []
        try:
            for number, (layout, group) in enumerate(groups):
                lane = lanes[number % len(lanes)]
                name = f"benchsuite-{uuid4().hex[:12]}"
                for index, run in enumerate(group):
                    ticket = Ticket.of(run, tuple(str(plugin.resolve()) for plugin in self.plugins), self.every)
                    folders.append(self.files.run(run.run_id, name))
                    folders[-1].prepare(ticket)
                    jobs[run.run_id] = Submitted(name=name, index=index)
                self.files.keep(jobs)
                places = [str(folder.folder) for folder in folders[-len(group) :]]
                after = lane.after if self.max_jobs else ()
                ids = slurm.submit(self.files.slurm, self.options, layout, name, attend, places, lane.at_a_time, after)
                submitted += ids
                lane.after = [ids[0].partition("_")[0]]
                for run, job in zip(group, ids, strict=True):
                    jobs[run.run_id] = jobs[run.run_id].model_copy(update={"job": job})
                self.files.keep(jobs)
        except BaseException:
            if submitted:
                slurm.cancel(submitted)
            for run in runs:
                jobs.pop(run.run_id, None)
            for folder in folders:
                folder.remove()
            raise

    def _look(self, watched: Watched, known: Mapping[str, JobState] | None) -> Iterator[Event]:
        """What is new about a run. `known`: what SLURM just said, if it was asked."""
        status = self._folder(watched).status()
        if status and not watched.started:
            watched.started = True
            yield Started(watched.run)
        if status and status.note != watched.note:
            watched.note = status.note
            yield Noted(watched.run, status.note)
        if status and status.step != watched.step:
            watched.step = status.step
            yield Stepped(watched.run, status.step)
        if outcome := self._folder(watched).outcome(watched.run):
            yield self._located(outcome, watched)
            return
        state = known.get(watched.job) if known is not None else None
        if known is not None:
            gone = state is None or not state.alive
            watched.how = state.state if state else watched.how
            watched.ended = (watched.ended or time.monotonic()) if gone else None
            if state and state.obstacle != watched.obstacle:
                watched.obstacle = state.obstacle
                if state.obstacle:
                    yield Queued(watched.run, watched.job, state.obstacle)
        if watched.ended is not None and time.monotonic() - watched.ended > LATE_SECONDS:
            yield Failed(watched.run, self._lost(watched))

    def _located(self, outcome: Finished | Failed, watched: Watched) -> Finished | Failed:
        """The outcome; of a failure that the hyper-parameters are not to blame for, with the job's log."""
        if isinstance(outcome, Finished) or outcome.diverged or not watched.job:
            return outcome
        reason = f"{outcome.reason} (job {watched.job}; log: {self.files.log(watched.job)})"
        return Failed(outcome.run, reason, outcome.traceback)

    def _lost(self, watched: Watched) -> str:
        if not self._mine(watched, self.files.jobs()):
            return f"its job {watched.job} was collected by another command. Repeat the command."
        how = slurm.ending(watched.job) or watched.how
        ended = f"ended as {how}" if how else "is not known to the cluster any more"
        log = self.files.log(watched.job)
        where = f"; log: {log}" if log.exists() else ""
        return f"its job {watched.job} {ended} and left no record{where}. The same command submits it again."

    @staticmethod
    def _mine(watched: Watched, jobs: Mapping[str, Submitted]) -> bool:
        """Whether the run is still in the job that is watched."""
        submitted = jobs.get(watched.run.run_id)
        return submitted is not None and submitted.name == watched.submitted.name

    def _forget(self, watched: Watched, finished: bool) -> None:
        """After the event was stored: the run is in no job any more."""
        del self.watched[watched.run.run_id]
        folder = self._folder(watched)
        with slurm.uninterrupted():
            folder.remove()
            with self.files.changing() as jobs:
                if self._mine(watched, jobs):  # another command may have submitted the run again
                    del jobs[watched.run.run_id]
            if finished and watched.job:
                self.files.clean(watched.job)


@dataclass
class Lane:
    """Arrays that run one after the other, so many jobs at a time."""

    at_a_time: int | None
    after: Sequence[str]


def grouped(runs: Sequence[Run], options: ClusterOptions, largest: int) -> list[tuple[Layout, list[Run]]]:
    """Runs that can share an array: equal nodes and processes, and no more than an array may have."""
    by_layout: dict[Layout, list[Run]] = {}
    for run in runs:
        by_layout.setdefault(options.layout(run.setup), []).append(run)
    return [
        (layout, same[first : first + largest])
        for layout, same in sorted(by_layout.items(), key=lambda item: item[0])
        for first in range(0, len(same), largest)
    ]


def shares(total: int | None, sizes: Sequence[int]) -> list[int | None]:
    """How many jobs of each lane run at a time, so that there are never more than `total`; largest arrays get most.

    With fewer than arrays, the arrays that are left share lanes.
    """
    if total is None:
        return [None] * len(sizes)
    each = [1] * min(total, len(sizes))
    while sum(each) < total and each:
        most = max(range(len(each)), key=lambda lane: sizes[lane] / each[lane])
        each[most] += 1
    return list(each)


def shortened(jobs: Sequence[str]) -> list[str]:
    """Job ids as scancel reads them: 7_0 and 7_2 as 7_[0,2]."""
    arrays: dict[str, list[str]] = {}
    for job in jobs:
        array, _, index = job.partition("_")
        arrays.setdefault(array, []).extend([index] if index else [])
    return [f"{array}_[{','.join(indices)}]" if indices else array for array, indices in arrays.items()]


def _job_of(submitted: Submitted, known: Mapping[str, JobState]) -> str | None:
    """The job of a run if it waits or runs. SLURM may have taken it although its answer was never written."""
    if submitted.job is not None:
        state = known.get(submitted.job)
        return submitted.job if state and state.alive and state.name == submitted.name else None
    named = {state.job for state in known.values() if state.name == submitted.name and state.alive}
    alone = named if submitted.index == 0 else set()
    return next((job for job in named if job.endswith(f"_{submitted.index}")), None) or next(
        (job for job in alone if "_" not in job), None
    )
