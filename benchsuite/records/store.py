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

from benchsuite.errors import UsageError
from benchsuite.records.contents import Contents, read_contents, read_failure, read_request
from benchsuite.records.inspection import FileError, inspect
from benchsuite.records.names import FAILED, RANKS, TABLES, failure_files, request_files, stem
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record, Sidecar

__all__ = ["Store", "pack_ranks", "read_record", "stem"]


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

    def read(self) -> Contents:
        """Everything in the folder: what can be trusted, and what cannot, with the reason."""
        return read_contents(self.folder)

    def records(self) -> dict[str, Record]:
        """All records by run_id. One that cannot be trusted stops here, by name; nothing is skipped silently."""
        contents = self.read()
        if contents.refused:
            raise contents.refused[0].refusal()
        return contents.records

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
        return dict(read_failure(file) for file in failure_files(self.folder))

    def ask(self, request: TableRequest) -> TableRequest:
        """Remember what a table asked for, beside what it asked for before, so that a report can find its runs."""
        (self.folder / TABLES).mkdir(exist_ok=True)
        file = self.folder / TABLES / f"{request.name}.json"
        if file.exists():
            request = request.joined_to(read_request(file))
        self._put(file, request.model_dump_json(indent=1).encode() + b"\n", replace=True)
        return request

    def requests(self) -> list[TableRequest]:
        """What tables asked for."""
        return [read_request(file) for file in request_files(self.folder)]

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
    """A record from its file, checked; not its ranks."""
    found = inspect(file)
    if found is None:
        raise FileError(file, "not a record")
    if found.record is None or found.problems:
        raise found.refusal()
    return found.record


def pack_ranks(name: str, ranks: Iterable[tuple[str, NDArray[np.integer[Any]]]]) -> tuple[bytes, Sidecar]:
    """Ranks as the bytes of an .npz file, and what the record says of it."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **dict(ranks))  # type: ignore[arg-type]
    content = buffer.getvalue()
    sha = hashlib.sha256(content).hexdigest()
    return content, Sidecar(file=f"{name}.{sha[:8]}{RANKS}", sha256=sha)
