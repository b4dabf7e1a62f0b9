"""All of a results folder at once: what can be trusted, and what cannot with the reason, so that work goes on."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from benchsuite.records.inspection import FileError, Found, Problem, inspect, read_json, with_ranks
from benchsuite.records.names import failure_files, json_files, request_files, stem
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record
from benchsuite.workers import spread

T = TypeVar("T")


@dataclass(frozen=True)
class Contents:
    """Runs, notes of failed ones, what tables asked for; and the files that cannot be read as such."""

    records: dict[str, Record]
    """By run_id."""
    failures: dict[str, str]
    """Reasons by run_id."""
    requests: list[TableRequest]
    found: list[Found]
    """Every record's file, with all that is wrong with it."""
    unreadable: list[FileError]
    """Notes and requests that are damaged."""
    foreign: list[Path]
    """JSON files that are no business of the suite's."""

    @property
    def refused(self) -> list[Found]:
        """Records that cannot be trusted."""
        return [one for one in self.found if one.problems]

    @property
    def refused_runs(self) -> dict[str, Found]:
        """Runs whose place is taken by a file that cannot be trusted: they are not measured over it."""
        return {run: one for one in self.refused for run in one.run_ids if run not in self.records}

    @property
    def gaps(self) -> dict[str, str]:
        """Why a run has no record, by run_id: it failed, or its record is refused."""
        refused = {run: f"its record was refused, {one.reason}" for run, one in self.refused_runs.items()}
        return {**self.failures, **refused}

    @property
    def errors(self) -> list[FileError]:
        """All that is refused, one error a file."""
        return [*(one.refusal() for one in self.refused), *self.unreadable]


def read_contents(folder: Path) -> Contents:
    """Everything in the folder, each file for itself."""
    with _uncollected():
        found, foreign = _inspect_all(folder)
    unreadable: list[FileError] = []
    failures = dict(_collect(failure_files(folder), read_failure, unreadable))
    requests = _collect(request_files(folder), read_request, unreadable)
    records = {one.record.run_id: one.record for one in found if one.record and not one.problems}
    return Contents(records, failures, requests, found, unreadable, foreign)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cycles, which looks through all that was read again and again and finds none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _inspect_all(folder: Path) -> tuple[list[Found], list[Path]]:
    """Every record's file with all that is wrong with it, and the JSON files that are none."""
    files = json_files(folder)
    seen = dict(zip(files, spread(_inspect, files), strict=True))
    found = [one for one in seen.values() if one]
    twice = {problem.file: problem for problem in _there_twice(found)}
    told = [
        replace(one, problems=(*one.problems, twice[one.file.name])) if one.file.name in twice else one for one in found
    ]
    return told, [file for file, one in seen.items() if one is None]


def _inspect(file: Path) -> Found | None:
    found = inspect(file)
    return with_ranks(found) if found else None


def read_failure(file: Path) -> tuple[str, str]:
    """A failed run's id, and why it failed."""
    said = read_json(file)
    if not {"run_id", "reason"} <= said.keys():
        raise FileError(file, "not the note of a failed run")
    return str(said["run_id"]), str(said["reason"])


def read_request(file: Path) -> TableRequest:
    """What a table asked for."""
    try:
        return TableRequest.model_validate(read_json(file))
    except ValidationError as error:
        raise FileError(file, f"not a table's request ({error.errors()[0]['msg']})") from error


def _there_twice(found: Sequence[Found]) -> Iterator[Problem]:
    """Records of one run: of equal ones all but one are copies; of different ones none can be preferred."""
    sound: dict[str, list[tuple[Path, Record]]] = {}
    for one in found:
        if one.record and not one.problems:
            sound.setdefault(one.record.run_id, []).append((one.file, one.record))
    for run_id, group in sound.items():
        named = [file for file, record in group if file.stem == stem(record.method.name, record.seed, run_id)]
        kept = [*named, group[0][0]][0] if len({record.digest for _, record in group}) == 1 else None
        for file, _ in group if len(group) > 1 else ():
            others = [kept] if kept else [other for other, _ in group if other != file]
            if file != kept:
                what = f"run {run_id} is there twice, in {' and '.join(other.name for other in others)} too"
                same = "delete this copy" if kept else "they differ, and nothing here tells which is right; keep one"
                yield Problem(file.name, what, same)


def _collect(files: Iterable[Path], read: Callable[[Path], T], errors: list[FileError]) -> list[T]:
    found = []
    for file in files:
        try:
            found.append(read(file))
        except FileError as error:
            errors.append(error)
    return found
