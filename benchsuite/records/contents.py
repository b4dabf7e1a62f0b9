"""Reading a results folder: valid records, and the problems of every other file."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import ValidationError

from benchsuite.canonical import canonical
from benchsuite.errors import RecordError
from benchsuite.fields import first_reason
from benchsuite.folders import built_in_recipes, built_in_tables, recipes_in, tables_in
from benchsuite.parts import Part
from benchsuite.records.json_text import parse
from benchsuite.records.listing import PACKS, Packed, json_files, packed_in, read_pack
from benchsuite.records.names import FAILURE_FILES, REMARKS, REQUEST_FILES, TRIAL_FILES, files_like
from benchsuite.records.record_file import Count, FileError, RecordFile, named_rightly, read_one, with_ranks
from benchsuite.records.remarks import Remark, read_remarks
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import MethodPart, Record, TunedBy
from benchsuite.setup import Setup
from benchsuite.workers import spread, without_garbage_collection

if TYPE_CHECKING:
    from benchsuite.records.trials import TrialsFile


class Failure(Part):
    """The note of a run that failed, which tells in which row of a table it is missing."""

    run_id: str
    reason: str
    seed: int
    setup: Setup
    method: MethodPart
    tuned: TunedBy | None = None
    also_tuned: list[TunedBy] = []

    @classmethod
    def of(cls, run: Any, reason: str) -> Self:
        """That of a planned run."""
        own = {name: getattr(run, name) for name in cls.model_fields if name != "reason"}
        return cls(reason=reason, **own)


Done = Record | Failure
"""A run that was done or tried."""
T = TypeVar("T")
RETUNE = "Put it back as it was written, or delete it and run the same `benchsuite tune` again."


@dataclass(frozen=True)
class Contents:
    """The records, failures and table requests of a folder, and the files that are not valid."""

    records: dict[str, Record]
    """By run_id."""
    failures: dict[str, Failure]
    """By run_id."""
    requests: list[TableRequest]
    files: list[RecordFile]
    """Every record's file, with all its problems."""
    unreadable: list[FileError]
    """Failures, requests, files of trials and packs of records that are damaged."""
    foreign: list[Path]
    """JSON files that benchsuite did not write."""
    tables: dict[str, Path] = field(default_factory=dict)
    """Files of the tables that are stored with the records, by `paper/table`: all that are not built in."""
    recipes: dict[str, Path] = field(default_factory=dict)
    """Files of the recipes that are stored with the records, by name."""
    trials: Mapping[str, "TrialsFile"] = field(default_factory=dict)
    """The folder's tuning trials by recipe."""
    remarks: list[Remark] = field(default_factory=list)

    @property
    def refused(self) -> list[RecordFile]:
        """Files of records that are not valid."""
        return [file for file in self.files if file.problems]

    @property
    def refused_runs(self) -> dict[str, RecordFile]:
        """Runs whose file is not valid, by run_id. They are not measured again over it."""
        return {run: file for file in self.refused for run in file.run_ids if run not in self.records}

    @property
    def unfinished(self) -> Iterator[tuple[Done, str]]:
        """Runs without a valid record, with the reason: they failed, or their record is refused."""
        yield from ((failure, failure.reason) for failure in self.failures.values())
        for file in self.refused:
            if file.record:
                yield file.record, f"its record was refused, {file.reason}"

    @property
    def errors(self) -> list[FileError]:
        return [*(file.refusal() for file in self.refused), *self.unreadable]


@without_garbage_collection()
def read_contents(folder: Path, count: Count | None = None, with_trials: bool = True) -> Contents:
    """Everything in the folder, or all but its trials. A bad file does not affect the others.

    `count` is called with the ranks of each record while they are read, so that no more than one file of them for each
    process is held at a time.
    """
    unreadable: list[FileError] = []
    _collect(files_like(folder, PACKS), _check_pack, unreadable)
    paths, found = json_files(folder), packed_in(folder)
    read = dict(zip(paths, spread(lambda path: _read_record(path, count, found), paths), strict=True))
    files = [file for file in read.values() if file]
    failures = {one.run_id: one for one in _collect(files_like(folder, FAILURE_FILES), _read_failure, unreadable)}
    requests = _collect(files_like(folder, REQUEST_FILES), read_request, unreadable)
    records = {file.record.run_id: file.record for file in files if file.record and not file.problems}
    searches = files_like(folder, TRIAL_FILES) if with_trials else ()
    trials = {file.recipe: file for file in _collect(searches, _read_trials, unreadable)}
    foreign = [path for path in paths if not read[path]]
    remarks = _collect(files_like(folder, REMARKS), read_remarks, unreadable)
    more = (tables_in(folder), recipes_in(folder), trials, [one for file in remarks for one in file])
    return Contents(records, failures, requests, files, unreadable, foreign, *more)


def built_in_again(contents: Contents) -> list[FileError]:
    """Stored tables and recipes with the name of a built-in one: that is shown, or what is shown could be faked."""
    fix = "Delete it, or rename it."
    return [
        FileError(file, f'{what} "{name}" is built in', fix)
        for what, files, built_in in (
            ("table", contents.tables, built_in_tables()), ("recipe", contents.recipes, built_in_recipes()),
        )
        for name, file in files.items()
        if name in built_in
    ]  # fmt: skip


def read_request(path: Path) -> TableRequest:
    """A table's request from its file."""
    try:
        request = TableRequest.model_validate(_read_object(path))
    except ValidationError as error:
        raise FileError(path, f"not a table's request ({first_reason(error)})") from error
    if path.stem != request.name:
        raise FileError(path, f"the request of {request.table} at {request.at} stands in {request.name}.json alone")
    return request


def _read_record(path: Path, count: Count | None, found: Mapping[str, Packed]) -> RecordFile | None:
    file = read_one(path, None if path.exists() else found.get(path.name))
    return named_rightly(with_ranks(file, count)) if file else None


def _check_pack(path: Path) -> None:
    try:
        read_pack(path)
    except ValueError as error:
        raise FileError(path, str(error), "Put it back as it was written.") from error


def _collect(paths: Iterable[Path], read: Callable[[Path], T], errors: list[FileError]) -> list[T]:
    values = []
    for path in paths:
        try:
            values.append(read(path))
        except FileError as error:
            errors.append(error)
    return values


def _read_failure(path: Path) -> Failure:
    try:
        return Failure.model_validate(_read_object(path))
    except ValidationError as error:
        raise FileError(path, "not the note of a failed run") from error


def _read_trials(path: Path) -> "TrialsFile":
    from benchsuite.records.trials import read_trials  # with pyarrow, and few folders have trials

    try:
        return read_trials(path)
    except RecordError as error:
        raise FileError(path, str(error).removeprefix(f"{path} ").removesuffix("."), RETUNE) from error


def _read_object(path: Path) -> dict[str, Any]:
    """A JSON object that benchsuite may have written."""
    try:
        content = parse(path)
        canonical(content)
    except ValueError as error:
        raise FileError(path, f"not what is stored here ({error})") from error
    if not isinstance(content, dict):
        raise FileError(path, f"not what is stored here but a {type(content).__name__}")
    return content
