"""A results folder: one JSON file a run with its ranks beside it, what tables asked for, and why runs failed.

Files appear whole or not at all: they are written under another name, forced to disk, and moved into place. The ranks
come before the record, so a record that is there is complete. No record is ever overwritten: whoever measures a run a
second time keeps the first one.
"""

import hashlib
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from benchsuite.errors import RecordError, UsageError
from benchsuite.records.asked import Asked
from benchsuite.records.schema import SCHEMA, Record, Sidecar

FAILED = ".failed.json"


class Store:
    """The runs measured so far, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"

    def require_writable(self) -> None:
        """Make the folder, and fail now rather than after an hour of training."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f".writable-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"results folder {self.folder}: {reason}. Name a writable one with --results.") from error

    def records(self) -> dict[str, Record]:
        """All records by run_id. One that cannot be trusted stops here, by name; nothing is skipped silently."""
        found: dict[str, Record] = {}
        files: dict[str, Path] = {}
        for file in sorted(self.folder.glob("*.json")):
            if file.name.startswith(".") or file.name.endswith(FAILED):
                continue
            record = read_record(file)
            require_ranks(record, self.folder, file)
            if record.run_id in found:
                raise RecordError(f"{file} and {files[record.run_id]}: run {record.run_id} is there twice; keep one.")
            found[record.run_id], files[record.run_id] = record, file
        return found

    def write(self, record: Record, ranks: bytes) -> Path:
        """Store a run, ranks first."""
        place = self.folder / f"{stem(record.method.name, record.seed, record.run_id)}.json"
        self._put(self.folder / record.ranks.file, ranks)
        self._put(place, json.dumps(record.as_json(), indent=1, ensure_ascii=False).encode() + b"\n")
        self._failure_file(record.run_id).unlink(missing_ok=True)
        return place

    def fail(self, run_id: str, reason: str) -> None:
        """Remember why a run did not finish, for the table's gap. A later success forgets it."""
        self._put(self._failure_file(run_id), json.dumps({"run_id": run_id, "reason": reason}).encode(), replace=True)

    def failures(self) -> dict[str, str]:
        """run_id to reason."""
        found = {}
        for file in sorted(self.folder.glob(f"*{FAILED}")):
            said = _read_json(file)
            if not {"run_id", "reason"} <= said.keys():
                raise RecordError(f"{file}: not the note of a failed run. {REMEDY}")
            found[str(said["run_id"])] = str(said["reason"])
        return found

    def ask(self, asked: Asked) -> Asked:
        """Remember what a table asked for, beside what it asked for before, so that a report can find its runs."""
        (self.folder / "tables").mkdir(exist_ok=True)
        file = self.folder / "tables" / f"{asked.name}.json"
        if file.exists():
            asked = asked.joined_to(_read_asked(file))
        self._put(file, asked.model_dump_json(indent=1).encode() + b"\n", replace=True)
        return asked

    def asked(self) -> list[Asked]:
        """What tables asked for."""
        return [_read_asked(file) for file in sorted((self.folder / "tables").glob("*.json"))]

    def _failure_file(self, run_id: str) -> Path:
        return self.folder / f"{run_id}{FAILED}"

    def _put(self, place: Path, content: bytes, replace: bool = False) -> None:
        draft = place.with_name(f".{place.name}.{os.getpid()}")
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            draft.replace(place)
            return
        try:
            os.link(draft, place)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not place.exists():
                draft.replace(place)
        draft.unlink(missing_ok=True)


def read_record(file: Path) -> Record:
    """A record from its file, checked."""
    content = _read_json(file)
    version = content.get("schema")
    if version != SCHEMA:
        raise RecordError(f"{file}: record schema {version!r}; this benchsuite reads schema {SCHEMA}.")
    try:
        return Record.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise RecordError(
            f"{file}: not a sound record: {where + ': ' if where else ''}{problem['msg']}. {REMEDY}"
        ) from error


def _read_asked(file: Path) -> Asked:
    try:
        return Asked.model_validate(_read_json(file))
    except ValidationError as error:
        raise RecordError(f"{file}: not a table's request ({error.errors()[0]['msg']}). {REMEDY}") from error


def require_ranks(record: Record, folder: Path, file: Path) -> None:
    """The record's ranks must lie beside it, unchanged."""
    ranks = folder / record.ranks.file
    if not ranks.is_file():
        raise RecordError(f"{file}: its ranks, {record.ranks.file}, are missing. {REMEDY}")
    if hashlib.sha256(ranks.read_bytes()).hexdigest() != record.ranks.sha256:
        raise RecordError(f"{ranks}: not the ranks of {file.name}: edited, or damaged. {REMEDY}")


def pack_ranks(name: str, ranks: Iterable[tuple[str, NDArray[np.int32]]]) -> tuple[bytes, Sidecar]:
    """Ranks as the bytes of an .npz file, and what the record says of it."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **dict(ranks))  # type: ignore[arg-type]
    content = buffer.getvalue()
    sha = hashlib.sha256(content).hexdigest()
    return content, Sidecar(file=f"{name}.{sha[:8]}.ranks.npz", sha256=sha)


def stem(method: str, seed: int, run_id: str) -> str:
    """File name of a run without its ending; the words are for people, the id identifies."""
    return f"{method}-s{seed}-{run_id}"


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(f"{file}: truncated or not JSON ({error}). {REMEDY}") from error
    if not isinstance(content, dict):
        raise RecordError(f"{file}: not a record but a {type(content).__name__}. {REMEDY}")
    return content


REMEDY = "Delete it or move it away, and run the same command again: only what is missing is measured."
