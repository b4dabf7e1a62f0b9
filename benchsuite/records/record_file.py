"""One record's file: the record, if it can be parsed, and every problem of the file and of its ranks."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchsuite.errors import RecordError
from benchsuite.fields import problem_in
from benchsuite.files import read_stored, reason_of
from benchsuite.records.json_text import parse, parse_text
from benchsuite.records.listing import Packed, packed
from benchsuite.records.names import LARGEST_RANKS, record_name, run_of
from benchsuite.records.schema import BROKEN_SEAL, SCHEMA, Record, content_digest
from benchsuite.records.shipped import shipped_digests

DELETE = "Delete it or move it away, and run the same command again: only what is missing is measured."
UNPACK = "Delete that line (`xz -d` unpacks the file, `xz` packs it), and run the same command again."
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
        return [f"{self.file}: {self.reason}." + (f" {self.fix}" if self.fix else "")]


@dataclass(frozen=True)
class Finding:
    """A problem or a note about a file, and how to fix it."""

    file: str
    message: str
    fix: str = PUT_BACK

    def __str__(self) -> str:
        return f"{self.file}: {self.message}" + (f"; {self.fix}" if self.fix else "")


@dataclass
class Numbers:
    """What the ranks of a record say of its numbers."""

    agreed: int = 0
    not_recomputable: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Numbers that do not follow from ranks, by task and reason."""
    problems: list[Finding] = field(default_factory=list)
    ranks: str = ""
    """Digest of the values of the ranks."""


@dataclass(frozen=True)
class RecordFile:
    """A record's file: the record if it can be parsed, the run_ids it may belong to, and all its problems."""

    file: Path
    record: Record | None
    problems: tuple[Finding, ...] = ()
    run_ids: frozenset[str] = frozenset()
    """From its name and from its content: equal unless the file was edited or renamed."""
    numbers: Numbers | None = None
    """What its ranks say of them; None if that was not asked, or if the ranks are not those that it was sealed with."""
    pack: Path | None = None
    """That it lies in."""

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def reason(self) -> str:
        """Why it is refused, in one line."""
        return "; ".join(problem.message for problem in self.problems)

    def refusal(self) -> FileError:
        if self.pack:
            return FileError(self.pack, f"{self.name} in it: {self.reason}", UNPACK)
        return FileError(self.file, self.reason)


Count = Callable[[Path, Record, bytes], Numbers]
"""Of a record's file, the record and the bytes of its ranks."""


def read_record(path: Path) -> Record:
    """A record from its file, checked without its ranks."""
    file = read_record_file(path)
    if file is None:
        raise FileError(path, "not a record")
    if file.record is None or file.problems:
        raise file.refusal()
    return file.record


def read_record_file(path: Path) -> RecordFile | None:
    """A record's file, or a packed record, checked without its ranks; None if the JSON file is not a record."""
    return read_one(path, packed(path))


def read_one(path: Path, found: Packed | None) -> RecordFile | None:
    """The same of one that was found in a pack, or is a file."""
    name, run_ids, pack = path.name, frozenset({run_of(path.name)} - {""}), found and found.pack
    try:
        content = parse_text(found.line.decode()) if found else parse(path)
    except ValueError as error:
        return RecordFile(path, None, (Finding(name, str(error)),), run_ids, pack=pack)
    if not isinstance(content, dict) or not {"schema", "run_id"} & content.keys():
        message = f"not a record but a {type(content).__name__}"
        return RecordFile(path, None, (Finding(name, message),), run_ids, pack=pack) if run_ids else None
    record, problems = _parse_record(name, content)
    return RecordFile(path, record, tuple(problems), run_ids | {str(content.get("run_id"))}, pack=pack)


def named_rightly(file: RecordFile) -> RecordFile:
    """The file with the problem of its name, which must be that of its run: so a folder has each run once."""
    if file.record is None or file.problems or file.name == (right := record_name(file.record)):
        return file
    wrong = Finding(file.name, "not named as its run is", f"name it {right}, or delete this copy")
    return replace(file, problems=(*file.problems, wrong))


def with_ranks(file: RecordFile, count: Count | None = None) -> RecordFile:
    """The file with the problems of its ranks, which must lie beside the record, unchanged; they are read once.

    Only the records that come with benchsuite may lie there without.
    """
    if file.record is None:
        return file
    name = Path(file.record.ranks.file).name
    try:
        content = read_stored(file.file.with_name(name), LARGEST_RANKS)
    except (OSError, ValueError) as error:  # an impossible name is a ValueError
        if isinstance(error, FileNotFoundError) and not file.problems and file.record.digest in shipped_digests():
            return file
        message = f"its ranks, {name}, are missing or cannot be read ({reason_of(error)})"
        return replace(file, problems=(*file.problems, Finding(file.name, message)))
    if hashlib.sha256(content).hexdigest() != file.record.ranks.sha256:
        message = f"{name} is not what it was sealed with: edited, or damaged"
        return replace(file, problems=(*file.problems, Finding(file.name, message)))
    return replace(file, numbers=count(file.file, file.record, content)) if count else file


def _parse_record(name: str, content: Mapping[str, Any]) -> tuple[Record | None, list[Finding]]:
    """The record, if the content has the right types, and every problem."""
    version = content.get("schema")
    if version != SCHEMA:
        message = f"record schema {version!r}; this benchsuite reads schema {SCHEMA}"
        environment = content.get("environment")
        wrote = environment.get("benchsuite") if isinstance(environment, Mapping) else None
        fix = f"use benchsuite {wrote}, which wrote it" if isinstance(wrote, str) else "use what wrote it"
        return None, [Finding(name, message, fix)]
    record = None
    messages = [] if _sealed(content) else [BROKEN_SEAL]
    try:
        parsed = Record.unchecked(content)
        messages += parsed.contradictions()
        record = parsed
    except ValidationError as error:
        messages += [f"not a valid record: {problem_in(each)}" for each in error.errors()[:TOLD]]
        messages += [f"{error.error_count() - TOLD:,} more"] * (error.error_count() > TOLD)
    except ValueError as error:  # identities of what has no canonical form
        messages.append(f"not a valid record: {error}")
    return record, [Finding(name, message) for message in messages]


def _sealed(content: Mapping[str, Any]) -> bool:
    try:
        return content_digest(content) == content.get("digest")
    except ValueError:  # what has no canonical form, such as NaN, was never sealed
        return False
