"""Writing into a results folder: one JSON file a run with its ranks beside it, table requests, and failures.

Writes are atomic. Ranks and weights are written before their record, so every stored record is complete. A second
measurement of a run keeps the first record, unless it knows of a search that the first does not.
"""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchsuite.errors import BenchsuiteError, UsageError
from benchsuite.files import lock_of, locked, put, read_stored, reason_of, require_writable, write_whole, writing_to
from benchsuite.grouping import by_key
from benchsuite.records.checkpoints import folder_of
from benchsuite.records.contents import Contents, Failure, read_contents, read_request
from benchsuite.records.listing import LARGEST_PACK, PACKS, is_stored, json_files, line_of, pack, pack_of, read_pack
from benchsuite.records.names import FAILED, TABLES, WEIGHTS, WEIGHTS_FILE, files_like, record_name, run_of
from benchsuite.records.record_file import UNPACK, FileError, named_rightly, read_record, read_record_file
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record, knows


class Store:
    """The runs measured so far, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"

    def require_writable(self) -> None:
        """Make the folder, and fail now rather than after an hour of training."""
        require_writable(self.folder, "--results")

    def read(self) -> Contents:
        """Everything in the folder, with the problems of files that are not valid."""
        return read_contents(self.folder)

    def write(self, record: Record, ranks: bytes, with_weights: bool = True) -> Path:
        """Store a run, ranks first. Its own folder goes. Without weights these are kept already, or nowhere."""
        before = self._outdated(record)
        write_whole(self.folder / record.ranks.file, ranks, overwrite=False)
        if with_weights:
            self._move_weights(record)
        path = self.write_alone(record, overwrite=before is not None)
        if before and before.ranks != record.ranks:
            (self.folder / before.ranks.file).unlink(missing_ok=True)
        if before and before.weights and before.weights != record.weights:
            (self.folder / WEIGHTS / before.weights.file).unlink(missing_ok=True)
        self.discard_checkpoints(record.run_id)
        return path

    def write_alone(self, record: Record, overwrite: bool = False) -> Path:
        """Store a record without its ranks: one that comes with benchsuite."""
        path = self.folder / record_name(record)
        if overwrite or not is_stored(path):
            write_whole(path, laid_out(record.as_json()).encode(), overwrite=overwrite)
        self._failure_file(record.run_id).unlink(missing_ok=True)
        return path

    def pack(self) -> int:
        """Pack the records that are files, by recipe, in the place of packed ones of the same runs: how many."""
        files = [file for file in json_files(self.folder) if file.exists() and run_of(file.name)]
        times = {file: file.stat().st_mtime_ns for file in files}
        found = (one for file in files if (one := read_record_file(file)))
        read = {one.file: one.record for one in map(named_rightly, found) if not one.problems}
        records = {file: record for file, record in read.items() if record}
        names = {file.name for file in records}
        by_pack = by_key((pack_of(self.folder, one.recipe), file) for file, one in records.items())
        for file in {*files_like(self.folder, PACKS), *by_pack}:
            with locked(lock_of(file)):
                before = _packed_before(file)
                lines = {name: line for name, line in before.items() if name not in names}
                lines |= {one.name: line_of(records[one].as_json()) for one in by_pack.get(file, ())}
                if sum(map(len, lines.values())) + len(lines) > LARGEST_PACK:
                    raise UsageError(f"{file}: more than is read of a pack. Move some to another results folder.")
                if lines != before:
                    write_whole(file, pack(line for _, line in sorted(lines.items())))
        for file in records:
            if file.stat().st_mtime_ns == times[file]:  # a newer one, of a second search, stays and counts
                file.unlink()
        return len(records)

    def _outdated(self, record: Record) -> Record | None:
        """The stored record of the same run, if it does not know of all searches that found it."""
        try:
            before = read_record(self.folder / record_name(record))
        except (OSError, BenchsuiteError):  # there is none, or one that is refused and stays
            return None
        return None if knows(before, record) else before

    def discard_checkpoints(self, run_id: str) -> None:
        """Remove a run's checkpoints, and the folder of all of them if it is empty then."""
        own = folder_of(self.folder, run_id)
        shutil.rmtree(own, ignore_errors=True)
        with suppress(OSError):
            own.parent.rmdir()

    def _move_weights(self, record: Record) -> None:
        """From the run's own folder, where a worker wrote them, to the kept ones."""
        if record.weights is None:
            return
        own, kept = folder_of(self.folder, record.run_id), self.folder / WEIGHTS / record.weights.file
        if kept.is_file() and not (own / WEIGHTS_FILE).exists():
            return  # another process has stored the run
        with writing_to(kept.parent):
            kept.parent.mkdir(exist_ok=True)
            put(own / WEIGHTS_FILE, kept)

    def add_failure(self, run: Any, reason: str) -> None:
        """Store why a planned run failed, for the gap in the table. A later success removes it."""
        text = Failure.of(run, reason).model_dump_json(exclude_defaults=True)
        write_whole(self._failure_file(run.run_id), text.encode())

    def add_request(self, request: TableRequest) -> TableRequest:
        """Store what is asked of a table, with what was asked earlier."""
        file = self.folder / TABLES / f"{request.name}.json"
        with locked(lock_of(file)):
            if file.exists():
                before = read_request(file)
                if before.table != request.table:
                    raise UsageError(
                        f"{file} is the request of {before.table}: the names of two tables may not be alike but for "
                        f"slashes and hyphens. Rename {request.table}, or give another --results FOLDER."
                    )
                request = request.with_earlier(before)
            write_whole(file, request.model_dump_json(indent=1).encode() + b"\n")
        return request

    def keep(self, name: str, file: Path) -> bool:
        """Store a table's or a recipe's file under a name such as `papers/mine/table1.toml`.

        Returns whether another one was stored there before; it is replaced.
        """
        kept, content = self.folder / name, file.read_bytes()
        with locked(lock_of(kept)):
            try:
                before = read_stored(kept) if kept.exists() else None
            except OSError as error:
                raise FileError(kept, f"it cannot be read ({reason_of(error)})") from error
            if before != content:
                write_whole(kept, content)
        return before not in (None, content)

    def _failure_file(self, run_id: str) -> Path:
        return self.folder / f"{run_id}{FAILED}"


def _packed_before(pack: Path) -> Mapping[str, bytes]:
    """The lines of a pack that may be there; one that cannot be read is refused, and stays."""
    try:
        return read_pack(pack) if pack.exists() else {}
    except ValueError as error:
        raise FileError(pack, f"nothing can be added to it: {error}", UNPACK) from error


def laid_out(record: Mapping[str, Any]) -> str:
    """JSON with a line for each part, a quarter smaller than with one for each number."""
    parts = (
        f"{json.dumps(name)}: {json.dumps(part, ensure_ascii=False, separators=(',', ': '))}"
        for name, part in record.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"
