"""A ticket: a folder that says which run is to be done and, once somebody has taken it, what came of it.

Whoever wants a run writes `ticket.json`; whoever does it answers beside it. Files are written whole, and checked when
they are read:

    ticket.json             the run, where its data are, plugins, where and how often its training is saved
    status.json             how far it is; the first process replaces it about once a second
    record.json, ranks      what was measured; or
    failure.json            why there is no record
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ValidationError

from benchsuite.errors import RunError, UsageError
from benchsuite.execution.events import Event, Failed, Finished, Noted, Started, Stepped
from benchsuite.execution.measure import Measured
from benchsuite.fields import first_reason
from benchsuite.files import reason_of, write_whole
from benchsuite.parts import Part
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import Every, Saving
from benchsuite.records.schema import Record, run_id
from benchsuite.setup import Data
from benchsuite.tower_settings import Tower

M = TypeVar("M", bound=BaseModel)
TRAINING = ""
"""Names the data of the training among those of the protocols."""


class DataPlace(Part):
    """What it takes to open a run's data and is not in its setup's JSON."""

    folder: str | None
    apart: dict[str, Any]
    paraphrases: str | None


class Ticket(Part):
    """What is to be done."""

    file_format: Literal[1] = 1
    run: Run
    places: dict[str, DataPlace]
    models: dict[str, str | None] = {}
    """Where the pretrained models of towers are, by tower; paths, which are not in the setup's JSON either."""
    plugins: tuple[Path, ...] = ()
    checkpoints: Path | None = None
    """The run's own folder while it lasts: whoever takes the next ticket of the run goes on from there."""
    every: Every | None = None
    """How often the training is saved; None: never."""

    @classmethod
    def of(cls, run: Run, plugins: tuple[Path, ...] = (), saving: Saving | None = None) -> Self:
        places = {
            name: DataPlace(folder=data.folder, apart=data.apart, paraphrases=data.paraphrases)
            for name, data in _data_of(run)
        }
        paths = tuple(plugin.resolve() for plugin in plugins)
        own, every = (saving.folder(run.run_id).resolve(), saving.every) if saving else (None, None)
        models = {side: tower.place for side, tower in _models_of(run)}
        return cls(run=run, places=places, models=models, plugins=paths, checkpoints=own, every=every)

    def opened(self) -> Run:
        """The run with its data's places. Refused if it is not the run that it says it is."""
        run, setup = self.run, self.run.setup
        data = {name: data.model_copy(update=dict(self.places[name])) for name, data in _data_of(run)}
        protocols = {
            name: protocol.model_copy(update={"data": data[name]}) if name in data else protocol
            for name, protocol in setup.protocols.items()
        }
        towers = {side: tower.model_copy(update={"place": self.models.get(side)}) for side, tower in _models_of(run)}
        setup = setup.model_copy(update={"data": data[TRAINING], "protocols": protocols, **towers})
        if run.run_id != run_id(setup.setup_id, run.method.method_id, run.seed, run.read):
            raise RunError(f"{run.label}: the ticket is not that of run {run.run_id}. Repeat the command.")
        return run.model_copy(update={"setup": setup})


class Status(Part):
    """How far it is."""

    starts: int = 1
    """How often it was started: more than once if a cluster queued its job again."""
    step: int = 0
    """Finished steps."""
    furthest: int = 0
    """Finished steps, at most, of earlier starts."""
    stuck: int = 0
    """How many starts in a row got no further."""
    notes: tuple[str, ...] = ()
    """What a user should know about the run: it goes on from a checkpoint, one could not be written."""

    def started_again(self) -> "Status":
        further = self.step > self.furthest
        return Status(
            starts=self.starts + 1,
            furthest=max(self.furthest, self.step),
            stuck=0 if further else self.stuck + 1,
            notes=self.notes,
        )


class Failure(Part):
    """Why a run ended without a record."""

    reason: str
    traceback: str = ""
    """Only of unexpected failures."""
    diverged: bool = False
    interrupted: bool = False
    """Whether the process was asked to stop; the run goes on from its checkpoint."""
    lost: bool = False
    """Whether the process only lost contact with another one, which may have died."""


class TicketFolder:
    """The files of a ticket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ticket, self._status, self._failure = (folder / f"{n}.json" for n in ("ticket", "status", "failure"))
        self._record, self._ranks = folder / "record.json", folder / "ranks"

    def write(self, ticket: Ticket) -> None:
        write_whole(self._ticket, ticket.model_dump_json(indent=1).encode())

    @property
    def written(self) -> bool:
        return self._ticket.exists()

    def ticket(self) -> Ticket:
        return read_json(self._ticket, Ticket)

    def status(self) -> Status | None:
        """How far it is; none before somebody takes it, or while a shared file system does not show it."""
        try:
            return Status.model_validate_json(self._status.read_bytes())
        except (OSError, ValidationError):
            return None

    def report(self, status: Status) -> None:
        """Replace the status. Not synced to disk: it is written often, and nothing is lost with it."""
        write_whole(self._status, status.model_dump_json().encode(), sync=False)

    def answer(self, end: Measured | Failure | None) -> None:
        """Write what came of it. Of several processes the first one measures, and the first to fail knows the reason:
        the others fail because of it.
        """
        if isinstance(end, Measured):
            write_whole(self._ranks, end.ranks)
            write_whole(self._record, json.dumps(end.record.as_json()).encode())  # last: it says that both are there
        elif end is not None:
            write_whole(self._failure, end.model_dump_json().encode(), overwrite=False)

    @property
    def answered(self) -> bool:
        return self._record.exists() or self._failure.exists()

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
                failure = read_json(self._failure, Failure)
                return Failed(run, failure.reason, failure.traceback, failure.diverged, failure.interrupted)
        except (OSError, ValueError, UsageError) as error:
            return Failed(run, f"{self.folder}: what the run left cannot be read: {str(error).splitlines()[0]}")
        return None

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Watched:
    """A ticket, and what was told of it."""

    def __init__(self, run: Run, folder: TicketFolder) -> None:
        self.run, self.folder = run, folder
        self.end: Finished | Failed | None = None
        self._told = Status(step=0)
        self.started = False

    def look(self) -> Iterator[Event]:
        """What is new; the last event is the end."""
        end = self.folder.outcome(self.run)  # before the status, which is not written after it
        if status := self.folder.status():
            if not self.started:
                self.started = True
                yield Started(self.run)
            for text in status.notes[len(self._told.notes) :]:
                yield Noted(self.run, text)
            if status.step != self._told.step:
                yield Stepped(self.run, status.step)
            self._told = status
        if end:
            self.end = end
            yield end


def _data_of(run: Run) -> Iterator[tuple[str, Data]]:
    yield TRAINING, run.setup.data
    yield from ((name, protocol.data) for name, protocol in run.setup.protocols.items() if protocol.data)


def _models_of(run: Run) -> Iterator[tuple[str, Tower]]:
    sides = (("image", run.setup.image), ("text", run.setup.text))
    yield from ((side, tower) for side, tower in sides if tower and tower.weights)


def read_json(file: Path, model: type[M]) -> M:
    """A file of a ticket."""
    try:
        return model.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else first_reason(error)
        raise UsageError(
            f"{file}: {reason}. If it was damaged, cancel its jobs, delete it, and repeat the command."
        ) from error
