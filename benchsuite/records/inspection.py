"""Reading a record's file: what is in it, and everything that is wrong with it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchsuite.canonical import canonical
from benchsuite.errors import RecordError
from benchsuite.records.names import run_of
from benchsuite.records.schema import BROKEN_SEAL, SCHEMA, Record, content_digest

REMEDY = "Delete it or move it away, and run the same command again: only what is missing is measured."
PUT_BACK = "put it back as it was written, or delete it and measure the run again"


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file, and what would be right."""

    file: str
    what: str
    right: str = PUT_BACK

    def __str__(self) -> str:
        return f"{self.file}: {self.what}" + (f"; {self.right}" if self.right else "")


class FileError(RecordError):
    """A stored file that cannot be used: which, why, and what to do."""

    def __init__(self, file: Path, what: str, right: str = REMEDY) -> None:
        super().__init__(file, what, right)
        self.file, self.what, self.right = file, what, right

    def __str__(self) -> str:
        return f"{self.file}: {self.what}." + (f" {self.right}" if self.right else "")


@dataclass(frozen=True)
class Found:
    """A record's file: the record as far as it can be read, the runs it may be of, and all that is wrong with it."""

    file: Path
    record: Record | None
    problems: tuple[Problem, ...]
    run_ids: frozenset[str] = frozenset()
    """By its name, and by its content: the same unless it was edited or renamed."""
    ranks_sound: bool = False
    """Whether the ranks were looked at, and are those that were sealed."""

    @property
    def reason(self) -> str:
        """Why it is refused, in one line."""
        return "; ".join(problem.what for problem in self.problems)

    def refusal(self) -> FileError:
        """The error that refuses it."""
        return FileError(self.file, self.reason)


def inspect(file: Path) -> Found | None:
    """What lies in a JSON file of a results folder; None if it is no run's. Its ranks are not looked at."""
    runs = frozenset({run_of(file.name)} - {""})
    try:
        content = parse(file)
    except ValueError as error:
        return Found(file, None, (Problem(file.name, str(error)),), runs)
    if not isinstance(content, dict) or not {"schema", "run_id"} & content.keys():
        what = f"not a record but a {type(content).__name__}"
        return Found(file, None, (Problem(file.name, what),), runs) if runs else None
    record, said = _read(content)
    problems = tuple(Problem(file.name, what, right) for what, right in said)
    return Found(file, record, problems, runs | {str(content.get("run_id"))})


def with_ranks(found: Found) -> Found:
    """Also what is wrong with the ranks, which must lie beside the record, unchanged."""
    if found.record is None:
        return found
    name = Path(found.record.ranks.file).name
    try:
        ranks = found.file.with_name(name)
        same = hashlib.sha256(ranks.read_bytes()).hexdigest() == found.record.ranks.sha256
        what = f"{name} is not what it was sealed with: edited, or damaged"
    except (OSError, ValueError) as error:  # a name that none could be is a ValueError
        reason = getattr(error, "strerror", None) or error
        same, what = False, f"its ranks, {name}, are missing ({reason})"
    problems = () if same else (Problem(found.file.name, what),)
    return replace(found, problems=(*found.problems, *problems), ranks_sound=same)


def parse(file: Path) -> Any:
    """JSON from a file; a ValueError says why there is none."""
    try:
        return json.loads(file.read_text("utf-8"), object_pairs_hook=_once)
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"truncated or not JSON ({error})") from error


def read_json(file: Path) -> dict[str, Any]:
    """An object from a file that the suite wrote: nothing in it that it could not write."""
    try:
        content = parse(file)
    except ValueError as error:
        raise FileError(file, str(error)) from error
    if not isinstance(content, dict):
        raise FileError(file, f"not what is stored here but a {type(content).__name__}")
    try:
        canonical(content)
    except ValueError as error:
        raise FileError(file, f"not what is stored here ({error})") from error
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f'key "{next(key for key in names if names.count(key) > 1)}" is there twice')
    return content


def _read(content: Mapping[str, Any]) -> tuple[Record | None, list[tuple[str, str]]]:
    """The record as far as it goes; what is wrong, and what would be right."""
    version = content.get("schema")
    if version != SCHEMA:
        return None, [(f"record schema {version!r}; this benchsuite reads schema {SCHEMA}", _reader(content))]
    wrong = [] if _sealed(content) else [(BROKEN_SEAL, PUT_BACK)]
    try:
        record = Record.unchecked(content)
        return record, wrong + [(problem, PUT_BACK) for problem in record.contradictions()]
    except ValidationError as error:
        return None, wrong + [(f"not a sound record: {_where(one)}{one['msg']}", PUT_BACK) for one in error.errors()]
    except ValueError as error:  # identities of what has no canonical form
        return None, [*wrong, (f"not a sound record: {error}", PUT_BACK)]


def _sealed(content: Mapping[str, Any]) -> bool:
    try:
        return content_digest(content) == content.get("digest")
    except ValueError:  # what has no canonical form, such as NaN, was never sealed
        return False


def _reader(content: Mapping[str, Any]) -> str:
    """What can read a record of another schema."""
    environment = content.get("environment")
    wrote = environment.get("benchsuite") if isinstance(environment, Mapping) else None
    return f"benchsuite {wrote}, which wrote it, can" if isinstance(wrote, str) else "use the benchsuite that wrote it"


def _where(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: " if where else ""
