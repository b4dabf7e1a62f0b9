"""Files that the command and its cluster jobs share: which run is in which job, what a job is to do, what came of it.

All are JSON, written atomically and checked when read. A results folder has them in `cluster/`:

    jobs.json                 which run is in which job
    jobs.lock                 held while jobs.json changes
    runs/RUN/JOB/ticket.json  what a job is to do; JOB is its unique name, so that jobs of one run never mix
    runs/RUN/JOB/status.json  how far it is; the first process replaces it about once a second
    runs/RUN/JOB/record.json, ranks.npz, or failure.json
    slurm/                    what SLURM and submitit write: scripts, logs
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from benchsuite.errors import RunError, UsageError
from benchsuite.execution.events import Failed, Finished
from benchsuite.execution.measure import Measured
from benchsuite.files import reason_of, write_whole
from benchsuite.locks import locked
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import EVERY, Every, folder_of
from benchsuite.records.names import stem
from benchsuite.records.schema import Record, run_id
from benchsuite.setup import Data, Part

M = TypeVar("M", bound=BaseModel)
RESULT = re.compile(r"(?P<job>\d+(_\d+)?)_\d+_result\.pkl")
"""submitit's file of a task's result."""
SUBMITTING_SECONDS = 600.0
"""How long another command may take to submit its jobs."""
TRAINING = ""
"""Names the data of the training among those of the protocols."""


class Submitted(Part):
    """The job of a run."""

    job: str | None = None
    """Its id; none between the decision to submit it and SLURM's answer."""
    name: str
    """The job's name; unique for each submission."""
    index: int
    """Its place in the array."""


class Jobs(Part):
    """Which run is in which job."""

    file_format: Literal[1] = 1
    runs: Mapping[str, Submitted] = {}


class Place(Part):
    """What it takes to open a run's data and is not in its setup's JSON."""

    folder: str | None
    apart: dict[str, Any]
    paraphrases: str | None


class Ticket(Part):
    """What a job is to do."""

    file_format: Literal[1] = 1
    run: Run
    places: dict[str, Place]
    plugins: tuple[str, ...]
    every: Every | None
    """How often the training is saved."""

    @classmethod
    def of(cls, run: Run, plugins: tuple[str, ...], every: Every | None = EVERY) -> "Ticket":
        """For a run."""
        places = {
            name: Place(folder=data.folder, apart=data.apart, paraphrases=data.paraphrases)
            for name, data in _data_of(run)
        }
        return cls(run=run, places=places, plugins=plugins, every=every)

    def opened(self) -> Run:
        """The run with its data's places. Refused if it is not the run that it says it is."""
        run, setup = self.run, self.run.setup
        data = {name: data.model_copy(update=dict(self.places[name])) for name, data in _data_of(run)}
        protocols = {
            name: protocol.model_copy(update={"data": data[name]}) if name in data else protocol
            for name, protocol in setup.protocols.items()
        }
        setup = setup.model_copy(update={"data": data[TRAINING], "protocols": protocols})
        if run.run_id != run_id(setup.setup_id, run.method.method_id, run.seed, run.paraphrases):
            raise RunError(f"{run.label}: the job's file is not that of run {run.run_id}. Submit it again.")
        return run.model_copy(update={"setup": setup})


class Status(Part):
    """How far a job is."""

    starts: int = 1
    """How often it was started: more than once after it was queued again."""
    step: int = 0
    """Finished steps."""
    furthest: int = 0
    """Finished steps, at most, of earlier starts."""
    stuck: int = 0
    """How many starts in a row got no further."""
    note: str = ""
    """What a user should know about the run."""


class Failure(Part):
    """Why a run ended without a record."""

    reason: str
    traceback: str = ""
    diverged: bool = False


class RunFolder:
    """The files of a run's job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ticket, self._status, self._failure = (folder / f"{n}.json" for n in ("ticket", "status", "failure"))
        self._record, self._ranks = folder / "record.json", folder / "ranks.npz"

    def prepare(self, ticket: Ticket) -> None:
        """Write what is to be done."""
        self.folder.mkdir(parents=True)
        write_whole(self._ticket, ticket.model_dump_json(indent=1).encode())

    def ticket(self) -> Ticket:
        """What is to be done."""
        return _read(self._ticket, Ticket)

    def status(self) -> Status | None:
        """How far the job is; none before it starts, or while a shared file system does not show it."""
        try:
            return Status.model_validate_json(self._status.read_bytes())
        except (OSError, ValidationError):
            return None

    def report(self, status: Status) -> None:
        """Replace the status. Not synced to disk: it is written often, and nothing is lost with it."""
        write_whole(self._status, status.model_dump_json().encode(), sync=False)

    def finish(self, measured: Measured) -> None:
        """Write record and ranks; the record last, because it says that both are there."""
        write_whole(self._ranks, measured.ranks)
        write_whole(self._record, json.dumps(measured.record.as_json()).encode())

    def fail(self, failure: Failure) -> None:
        """Write why there is no record. The first process to fail knows the reason; the others fail because of it."""
        write_whole(self._failure, failure.model_dump_json().encode(), overwrite=False)

    def outcome(self, run: Run) -> Finished | Failed | None:
        """What came of the run, checked; none if nothing did so far."""
        try:
            if self._record.exists():
                record = Record.model_validate(json.loads(self._record.read_bytes()))
                ranks = self._ranks.read_bytes()
                if record.run_id != run.run_id or hashlib.sha256(ranks).hexdigest() != record.ranks.sha256:
                    raise ValueError("record and ranks are not those of this run")
                return Finished(run, record, ranks)
            if self._failure.exists():
                failure = _read(self._failure, Failure)
                return Failed(run, failure.reason, failure.traceback, failure.diverged)
        except (OSError, ValueError) as error:
            return Failed(run, f"{self.folder}: what its job left cannot be read: {str(error).splitlines()[0]}")
        return None

    @property
    def checkpoints(self) -> Path:
        """The run's own folder while it lasts; its next job, or this machine, goes on from there."""
        return folder_of(self.folder.parents[3], self.folder.parent.name)

    @property
    def ended(self) -> bool:
        """Whether the job left something."""
        return self._record.exists() or self._failure.exists()

    def remove(self) -> None:
        """Forget the job: what came of it is stored."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # another job of the run is still ending
            self.folder.parent.rmdir()


class ClusterFolder:
    """The `cluster` folder of a results folder."""

    def __init__(self, results: Path) -> None:
        self.results = results.resolve()
        self.folder = self.results / "cluster"
        self.slurm = self.folder / "slurm"
        self._jobs, self._runs = self.folder / "jobs.json", self.folder / "runs"

    def run(self, run: str, name: str) -> RunFolder:
        """The files of a run's job of that name."""
        return RunFolder(self._runs / run / name)

    def jobs(self) -> dict[str, Submitted]:
        """The job of each run."""
        return dict(_read(self._jobs, Jobs).runs) if self._jobs.exists() else {}

    @contextmanager
    def changing(self) -> Iterator[dict[str, Submitted]]:
        """The job of each run, to be changed; written at the end, even if an error ends the change."""
        with locked(self.folder / "jobs.lock", SUBMITTING_SECONDS):
            jobs = self.jobs()
            try:
                yield jobs
            finally:
                self.keep(jobs)

    def keep(self, jobs: Mapping[str, Submitted]) -> None:
        """Write the job of each run."""
        write_whole(self._jobs, Jobs(runs=dict(sorted(jobs.items()))).model_dump_json(indent=1).encode() + b"\n")

    def log(self, job: str) -> Path:
        """What the first process of a job printed, and SLURM about the job."""
        return self.slurm / f"{job}_0_log.out"

    def forget_stored(self) -> None:
        """Remove what jobs left of runs whose records are stored: of a command that ended between the two."""
        for file in self._runs.glob("*/*/record.json"):
            folder = RunFolder(file.parent)
            with suppress(UsageError):
                run = folder.ticket().run
                if (self.results / f"{stem(run.method.name, run.seed, run.run_id)}.json").exists():
                    folder.remove()

    def clean(self, job: str) -> None:
        """Remove what submitit wrote of a job, and of its array if it was the last. Logs of failed jobs are kept.

        A job writes its result, which nobody reads, after what came of the run: those of earlier jobs go too.
        """
        array, others = job.partition("_")[0], {other.job for other in self.jobs().values() if other.job}
        for file in (*self.slurm.glob(f"{job}_*_log.out"), self.slurm / f"{job}_submitted.pkl"):
            file.unlink(missing_ok=True)
        for file in self.slurm.glob("*_result.pkl"):
            if (match := RESULT.fullmatch(file.name)) and match["job"] not in others:
                file.unlink(missing_ok=True)
        if not any(other.partition("_")[0] == array for other in others):
            self.slurm.joinpath(f"{array}_submission.sh").unlink(missing_ok=True)
            for link in self.slurm.glob(".submission_file_*.sh"):  # submitit's, to what was just removed
                if not link.exists():
                    link.unlink(missing_ok=True)


def _data_of(run: Run) -> Iterator[tuple[str, Data]]:
    yield TRAINING, run.setup.data
    yield from ((name, protocol.data) for name, protocol in run.setup.protocols.items() if protocol.data)


def _read(file: Path, model: type[M]) -> M:
    try:
        return model.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else error.errors()[0]["msg"]
        raise UsageError(
            f"{file}: {reason}. If it was damaged, cancel its jobs, delete it, and repeat the command."
        ) from error
