"""MANIFEST.json, the list of a results folder's files; a validated folder against its own and earlier ones.

So `verify` notices what is gone, replaced or not listed.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import ValidationError

from benchsuite.canonical import digest
from benchsuite.errors import UsageError
from benchsuite.fields import first_reason
from benchsuite.files import lock_of, locked, write_whole
from benchsuite.parts import NOTHING, Part
from benchsuite.records.json_text import parse
from benchsuite.records.names import MANIFEST
from benchsuite.records.record_file import FileError, Finding
from benchsuite.records.schema import Record
from benchsuite.verify.audit import Audit

FORMAT = 2


@dataclass(frozen=True)
class Changes:
    """Differences between two manifests, by path."""

    added: list[str]
    removed: list[str]
    replaced: list[str]


class FolderManifest(Part):
    """What a folder must hold."""

    file_format: Literal[2] = 2
    files: dict[str, str]
    """By path: the digest of a record, which covers its ranks, and the SHA-256 of a request, a stored table or recipe,
    or trials."""

    @classmethod
    def of(cls, records: Mapping[str, Record], files: Mapping[str, str] = NOTHING) -> Self:
        """The manifest of these records, by file name, and of these other files, by path."""
        listed = {name: record.digest for name, record in records.items()} | dict(files)
        return cls(files=dict(sorted(listed.items())))

    @property
    def digest(self) -> str:
        """Of all that it lists: equal for equal folders."""
        return digest(self.files)

    def changes_since(self, before: "FolderManifest") -> Changes:
        """What was added, removed and replaced since an earlier manifest."""
        old, new = before.files, self.files
        return Changes(
            added=sorted(new.keys() - old.keys()),
            removed=sorted(old.keys() - new.keys()),
            replaced=sorted(name for name in old.keys() & new.keys() if old[name] != new[name]),
        )


def manifest_of(audit: Audit) -> FolderManifest:
    """That of a folder's valid records, and of its stored tables, recipes and trials."""
    return FolderManifest.of(audit.records, audit.files)


def is_record(name: str) -> bool:
    """Whether a path of a manifest is that of a record: all other files lie in folders."""
    return "/" not in name


def read_manifest(file: Path) -> FolderManifest:
    """A manifest from its file, checked."""
    try:
        content = parse(file)
        version = content.get("file_format") if isinstance(content, dict) else None
        if version != FORMAT:
            reason = f"file_format {version!r}; this benchsuite reads manifests of file_format {FORMAT}"
            raise FileError(file, reason, "")
        return FolderManifest.model_validate(content)
    except ValidationError as error:
        raise FileError(file, f"not a manifest ({first_reason(error)})", "") from error
    except ValueError as error:
        raise FileError(file, str(error), "") from error


def write_manifest(file: Path, manifest: FolderManifest) -> None:
    """Write the manifest atomically, with one sorted line for each file, for readable diffs."""
    write_whole(file, f"{json.dumps(manifest.model_dump(), indent=1, ensure_ascii=False)}\n".encode())


def check_manifest(audit: Audit) -> None:
    """Compare the folder with its MANIFEST.json; a note where there is none."""
    update = f"`benchsuite verify {shlex.quote(str(audit.path))} --update` "
    file = audit.path / MANIFEST
    if not file.exists():
        message = "missing, so a removed record would not be noticed"
        audit.notes.append(Finding(MANIFEST, message, f"{update}writes it"))
        return
    try:
        listed = read_manifest(file)
    except FileError as error:
        fix = f"put back a version that was written, or delete it; {update}then writes it anew"
        audit.problems.append(Finding(MANIFEST, error.reason, fix))
        return
    changes = manifest_of(audit).changes_since(listed)
    audit.problems += _lost(changes, listed, audit, MANIFEST)
    audit.problems += [Finding(name, f"not listed in {MANIFEST}", f"{update}lists it") for name in changes.added]
    fix = f"look at what changed; {update}lists it as it is now"
    replaced = [name for name in changes.replaced if not is_record(name)]
    audit.problems += [Finding(name, f"not as listed in {MANIFEST}", fix) for name in replaced]


def check_base(audit: Audit, *bases: Path) -> None:
    """Compare the folder with earlier manifests: none of their records may be gone or replaced. Each is named once."""
    lost: dict[str, Finding] = {}
    changed: dict[str, Finding] = {}
    fix = "look at what changed in its published numbers and claims"
    for base in bases:
        if not base.is_file():
            raise UsageError(f"manifest {base}: no such file.")
        listed = read_manifest(base)
        changes = manifest_of(audit).changes_since(listed)
        for finding in _lost(changes, listed, audit, str(base)):
            lost.setdefault(finding.file, finding)
        for name in changes.replaced:
            if not is_record(name):
                changed.setdefault(name, Finding(name, f"another one than that listed in {base}", fix))
    audit.problems += lost.values()
    audit.notes += changed.values()


def update_manifest(audit: Audit) -> None:
    """Write MANIFEST.json for what is there, unless there are problems, and note what changed."""
    file = audit.path / MANIFEST
    if audit.problems:
        audit.problems.append(Finding(MANIFEST, "not updated", "solve the other problems first"))
        return
    with locked(lock_of(file)):
        manifest = manifest_of(audit)
        changes = manifest.changes_since(read_manifest(file) if file.exists() else FolderManifest.of({}))
        write_manifest(file, manifest)
    told = [f"{len(changes.added)} added"] if changes.added else []
    told += [f"{name} removed" for name in changes.removed] + [f"{name} replaced" for name in changes.replaced]
    audit.notes.append(Finding(MANIFEST, f"written: {', '.join(told) or 'nothing new'}", ""))


def _lost(changes: Changes, before: FolderManifest, audit: Audit, where: str) -> Iterator[Finding]:
    for name in changes.removed:
        if name not in audit.refused:  # a refused file is a problem of its own
            yield Finding(name, f"listed in {where}, but gone", "put it back")
    for name in filter(is_record, changes.replaced):
        message = f"another record than the one listed in {where}, whose digest is {before.files[name][:16]}"
        yield Finding(name, message, "put the listed one back")
