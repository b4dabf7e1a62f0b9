"""Reading a results folder: valid records, and the problems of every other file."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchsuite.canonical import canonical
from benchsuite.errors import RecordError
from benchsuite.files import read_stored, reason_of
from benchsuite.folders import tables_in
from benchsuite.records.json_text import parse
from benchsuite.records.names import (
    LARGEST_RANKS,
    evaluation_files,
    failure_files,
    json_files,
    measurement_files,
    request_files,
    run_of,
    stem,
    trial_files,
)
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import BROKEN_SEAL, SCHEMA, Record, content_digest
from benchsuite.workers import spread, without_garbage_collection

if TYPE_CHECKING:
    from benchsuite.records.benchmarks import Measurement
    from benchsuite.records.evaluations import Evaluation
    from benchsuite.records.trials import TrialsFile

T = TypeVar("T")
Sealed = TypeVar("Sealed", bound=BaseModel)
DELETE = "Delete it or move it away, and run the same command again: only what is missing is measured."
RETUNE = "Put it back as it was written, or delete it and run the same `benchsuite tune` again."
MEASURE = "Put it back as it was written, or delete it and run `tox -e bench` again."
EVALUATE = "Delete it, and evaluate the model again."
TOLD = 20
"""Problems of one kind in a file; of a thousand wrong numbers the first ones tell as much."""
PUT_BACK = "put it back as it was written, or delete it and measure the run again"


class FileError(RecordError):
    """A stored file that cannot be used: which, why, and what to do."""

    def __init__(self, file: Path, reason: str, fix: str = DELETE) -> None:
        super().__init__(file, reason, fix)
        self.file, self.reason, self.fix = file, reason, fix

    @property
    def lines(self) -> Sequence[str]:
        """One line."""
        return [f"{self.file}: {self.reason}." + (f" {self.fix}" if self.fix else "")]


@dataclass(frozen=True)
class Finding:
    """A problem or a note about a file, and how to fix it."""

    file: str
    message: str
    fix: str = PUT_BACK

    def __str__(self) -> str:
        return f"{self.file}: {self.message}" + (f"; {self.fix}" if self.fix else "")


@dataclass(frozen=True)
class RecordFile:
    """A record's file: the record if it can be parsed, the run_ids it may belong to, and all its problems."""

    file: Path
    record: Record | None
    problems: tuple[Finding, ...] = ()
    run_ids: frozenset[str] = frozenset()
    """From its name and from its content: equal unless the file was edited or renamed."""
    ranks_valid: bool = False
    """Whether the ranks were checked and have the sealed digest."""

    @property
    def right_name(self) -> str:
        """The file name that the record must have."""
        assert self.record
        return f"{stem(self.record.method.name, self.record.seed, self.record.run_id)}.json"

    @property
    def reason(self) -> str:
        """Why it is refused, in one line."""
        return "; ".join(problem.message for problem in self.problems)

    def refusal(self) -> FileError:
        """The error that refuses it."""
        return FileError(self.file, self.reason)


@dataclass(frozen=True)
class Contents:
    """The records, failures and table requests of a folder, and the files that are not valid."""

    records: dict[str, Record]
    """By run_id."""
    failures: dict[str, str]
    """Reasons by run_id."""
    requests: list[TableRequest]
    files: list[RecordFile]
    """Every record's file, with all its problems."""
    unreadable: list[FileError]
    """Failures, requests, files of trials and evaluations that are damaged."""
    foreign: list[Path]
    """JSON files that benchsuite did not write."""
    tables: dict[str, Path] = field(default_factory=dict)
    """Files of the tables that are stored with the records, by `paper/table`: all that are not built in."""
    trials: Mapping[str, "TrialsFile"] = field(default_factory=dict)
    """Tuning trials by recipe."""
    evaluations: Sequence["Evaluation"] = ()
    """Of models as they were given."""
    measurements: Sequence["Measurement"] = ()
    """Of speed and memory, the latest first."""

    @property
    def refused(self) -> list[RecordFile]:
        """Files of records that are not valid."""
        return [file for file in self.files if file.problems]

    @property
    def refused_runs(self) -> dict[str, RecordFile]:
        """Runs whose file is not valid, by run_id. They are not measured again over it."""
        return {run: file for file in self.refused for run in file.run_ids if run not in self.records}

    @property
    def gaps(self) -> dict[str, str]:
        """Why a run has no record, by run_id: it failed, or its record is refused."""
        refused = {run: f"its record was refused, {file.reason}" for run, file in self.refused_runs.items()}
        return {**self.failures, **refused}

    @property
    def errors(self) -> list[FileError]:
        """One error for each refused file."""
        return [*(file.refusal() for file in self.refused), *self.unreadable]


def read_contents(folder: Path) -> Contents:
    """Everything in the folder. A bad file does not affect the others."""
    paths = json_files(folder)
    with without_garbage_collection():
        read = dict(zip(paths, spread(_read_with_ranks, paths), strict=True))
    files = _with_duplicates([file for file in read.values() if file])
    unreadable: list[FileError] = []
    failures = dict(_collect(failure_files(folder), _read_failure, unreadable))
    requests = _collect(request_files(folder), read_request, unreadable)
    records = {file.record.run_id: file.record for file in files if file.record and not file.problems}
    trials = {file.recipe: file for file in _collect(trial_files(folder), _read_trials, unreadable)}
    evaluations = _collect(evaluation_files(folder), _read_evaluation, unreadable)
    measurements = _collect(measurement_files(folder), _read_measurement, unreadable)
    measurements.sort(key=lambda each: each.created, reverse=True)
    foreign = [path for path in paths if not read[path]]
    more = (tables_in(folder), trials, evaluations, measurements)
    return Contents(records, failures, requests, files, unreadable, foreign, *more)


def read_record(path: Path) -> Record:
    """A record from its file, checked without its ranks."""
    file = read_record_file(path)
    if file is None:
        raise FileError(path, "not a record")
    if file.record is None or file.problems:
        raise file.refusal()
    return file.record


def read_record_file(path: Path) -> RecordFile | None:
    """A record's file, checked without its ranks; None if the JSON file is not a record."""
    run_ids = frozenset({run_of(path.name)} - {""})
    try:
        content = parse(path)
    except ValueError as error:
        return RecordFile(path, None, (Finding(path.name, str(error)),), run_ids)
    if not isinstance(content, dict) or not {"schema", "run_id"} & content.keys():
        message = f"not a record but a {type(content).__name__}"
        return RecordFile(path, None, (Finding(path.name, message),), run_ids) if run_ids else None
    record, problems = _parse_record(path.name, content)
    return RecordFile(path, record, tuple(problems), run_ids | {str(content.get("run_id"))})


def with_ranks(file: RecordFile) -> RecordFile:
    """The file with the problems of its ranks, which must lie beside the record, unchanged."""
    if file.record is None:
        return file
    name = Path(file.record.ranks.file).name
    try:
        content = read_stored(file.file.with_name(name), LARGEST_RANKS)
        valid = hashlib.sha256(content).hexdigest() == file.record.ranks.sha256
        message = f"{name} is not what it was sealed with: edited, or damaged"
    except (OSError, ValueError) as error:  # an impossible name is a ValueError
        reason = reason_of(error)
        valid, message = False, f"its ranks, {name}, are missing or cannot be read ({reason})"
    problems = () if valid else (Finding(file.file.name, message),)
    return replace(file, problems=(*file.problems, *problems), ranks_valid=valid)


def read_request(path: Path) -> TableRequest:
    """A table's request from its file."""
    try:
        request = TableRequest.model_validate(_read_object(path))
    except ValidationError as error:
        raise FileError(path, f"not a table's request ({error.errors()[0]['msg']})") from error
    if path.stem != request.name:
        raise FileError(path, f"the request of {request.table} at {request.at} stands in {request.name}.json alone")
    return request


def _read_with_ranks(path: Path) -> RecordFile | None:
    file = read_record_file(path)
    return with_ranks(file) if file else None


def _with_duplicates(files: Sequence[RecordFile]) -> list[RecordFile]:
    """The files with problems of duplicates: of equal records the copies, of different records all of them."""
    by_run: dict[str, list[RecordFile]] = {}
    for file in files:
        if file.record and not file.problems:
            by_run.setdefault(file.record.run_id, []).append(file)
    duplicates: dict[Path, Finding] = {}
    for run, group in by_run.items():
        equal = len({file.record.digest for file in group if file.record}) == 1
        original = next((file for file in group if file.file.name == file.right_name), group[0]) if equal else None
        for file in group if len(group) > 1 else ():
            if file is not original:
                others = [original] if original else [other for other in group if other is not file]
                message = f"run {run} is there twice, in {' and '.join(other.file.name for other in others)} too"
                fix = "delete this copy" if original else "they differ, so neither can be preferred; keep one"
                duplicates[file.file] = Finding(file.file.name, message, fix)
    return [replace(f, problems=(duplicates[f.file],)) if f.file in duplicates else f for f in files]


def _collect(paths: Iterable[Path], read: Callable[[Path], T], errors: list[FileError]) -> list[T]:
    values = []
    for path in paths:
        try:
            values.append(read(path))
        except FileError as error:
            errors.append(error)
    return values


def _read_failure(path: Path) -> tuple[str, str]:
    """A failed run's id, and why it failed."""
    content = _read_object(path)
    if not {"run_id", "reason"} <= content.keys():
        raise FileError(path, "not the note of a failed run")
    return str(content["run_id"]), str(content["reason"])


def _read_trials(path: Path) -> "TrialsFile":
    from benchsuite.records.trials import read_trials  # with pyarrow, and few folders have trials

    try:
        return read_trials(path)
    except RecordError as error:
        raise FileError(path, str(error).removeprefix(f"{path} ").removesuffix("."), RETUNE) from error


def _read_evaluation(path: Path) -> "Evaluation":
    from benchsuite.records.evaluations import Evaluation  # few folders have some

    return _read_sealed(path, Evaluation, "evaluation", EVALUATE)


def _read_measurement(path: Path) -> "Measurement":
    from benchsuite.records.benchmarks import Measurement  # few folders have some

    return _read_sealed(path, Measurement, "measurement of speed", MEASURE)


def _read_sealed(path: Path, model: type[Sealed], what: str, fix: str) -> Sealed:
    try:
        return model.model_validate(parse(path))
    except ValidationError as error:
        problem = error.errors()[0]
        raise FileError(path, f"not a valid {what}: {_where(problem)}{problem['msg']}", fix) from error
    except ValueError as error:
        raise FileError(path, str(error), fix) from error


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


def _parse_record(name: str, content: Mapping[str, Any]) -> tuple[Record | None, list[Finding]]:
    """The record, if the content has the right types, and every problem."""
    version = content.get("schema")
    if version != SCHEMA:
        message = f"record schema {version!r}; this benchsuite reads schema {SCHEMA}"
        return None, [Finding(name, message, _reader(content))]
    record = None
    messages = [] if _sealed(content) else [BROKEN_SEAL]
    try:
        parsed = Record.unchecked(content)
        messages += parsed.contradictions()
        record = parsed
    except ValidationError as error:
        messages += [f"not a valid record: {_where(e)}{e['msg']}" for e in error.errors()[:TOLD]]
        messages += [f"{error.error_count() - TOLD:,} more"] * (error.error_count() > TOLD)
    except ValueError as error:  # identities of what has no canonical form
        messages.append(f"not a valid record: {error}")
    return record, [Finding(name, message) for message in messages]


def _sealed(content: Mapping[str, Any]) -> bool:
    try:
        return content_digest(content) == content.get("digest")
    except ValueError:  # what has no canonical form, such as NaN, was never sealed
        return False


def _reader(content: Mapping[str, Any]) -> str:
    """What can read a record of another schema."""
    environment = content.get("environment")
    version = environment.get("benchsuite") if isinstance(environment, Mapping) else None
    return f"use benchsuite {version}, which wrote it" if isinstance(version, str) else "use what wrote it"


def _where(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: " if where else ""
