"""A validated folder against its MANIFEST.json and earlier ones: what is gone, replaced or not listed."""

from collections.abc import Iterator
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.locks import lock_of, locked
from benchsuite.records.names import MANIFEST
from benchsuite.records.record_file import FileError, Finding
from benchsuite.verify.audit import Audit
from benchsuite.verify.manifest import FolderManifest, read_manifest, write_manifest

SHORTEST = 16
"""The fewest digits of a digest that are compared."""


def check_manifest(audit: Audit) -> None:
    """Compare the folder with its MANIFEST.json; a note where there is none."""
    update = f"`benchsuite verify {audit.path} --update` "
    file = audit.path / MANIFEST
    if not file.exists():
        message = "missing, so a removed record would not be noticed"
        audit.notes.append(Finding(MANIFEST, message, f"{update}writes it"))
        return
    try:
        listed = read_manifest(file)
    except FileError as error:
        fix = f"put back a version that was written, then {update}adds what is new"
        audit.problems.append(Finding(MANIFEST, error.reason, fix))
        return
    added, files = audit.manifest.changes_since(listed).added, audit.manifest.files_since(listed)
    audit.problems += _lost(listed, audit, MANIFEST)
    audit.problems += [
        Finding(name, f"not listed in {MANIFEST}", f"{update}lists it") for name in (*added, *files.added)
    ]
    fix = f"look at what changed; {update}lists it as it is now"
    audit.problems += [Finding(name, f"not as listed in {MANIFEST}", fix) for name in files.replaced]


def check_base(audit: Audit, *bases: Path) -> None:
    """Compare the folder with earlier manifests: none of their records may be gone or replaced. Each is named once."""
    lost: dict[str, Finding] = {}
    changed: dict[str, Finding] = {}
    fix = "look at what changed in its published numbers and claims"
    for base in bases:
        if not base.is_file():
            raise UsageError(f"manifest {base}: no such file.")
        listed = read_manifest(base)
        for finding in _lost(listed, audit, str(base)):
            lost.setdefault(finding.file, finding)
        for name in audit.manifest.files_since(listed).replaced:
            changed.setdefault(name, Finding(name, f"another one than that listed in {base}", fix))
    audit.problems += lost.values()
    audit.notes += changed.values()


def check_digest(audit: Audit, expected: str) -> None:
    """Compare the manifest digest of the folder with one from elsewhere."""
    digest = audit.manifest.digest
    if len(expected) < SHORTEST or set(expected) - set("0123456789abcdef"):
        raise UsageError(f'--expect "{expected}": give the manifest digest, or at least its first {SHORTEST} digits.')
    if not digest.startswith(expected):
        message = f"the manifest digest of the records here is {digest}"
        audit.problems.append(Finding(MANIFEST, message, f"{expected} was expected"))


def update_manifest(audit: Audit, allow_removal: bool) -> None:
    """Write MANIFEST.json for the valid records, unless there are problems or listed records were lost."""
    file = audit.path / MANIFEST
    if audit.problems:
        audit.problems.append(Finding(MANIFEST, "not updated", "solve the other problems first"))
        return
    with locked(lock_of(file)):
        _update(file, audit, allow_removal)


def _update(file: Path, audit: Audit, allow_removal: bool) -> None:
    before = read_manifest(file) if file.exists() else FolderManifest.of({})
    changes, files = audit.manifest.changes_since(before), audit.manifest.files_since(before)
    if (changes.lost or files.removed) and not allow_removal:
        audit.problems += _lost(before, audit, MANIFEST)
        fix = "--allow-removal lets listed records be removed or replaced"
        audit.problems.append(Finding(MANIFEST, "not updated", fix))
        return
    write_manifest(file, audit.manifest)
    counts = [f"{len(names)} {change}" for change, names in vars(changes).items() if names]
    counts += [f"{name} {change}" for change, names in vars(files).items() for name in names]
    audit.notes.append(Finding(MANIFEST, f"written: {', '.join(counts) or 'nothing new'}", ""))


def _lost(before: FolderManifest, audit: Audit, where: str) -> Iterator[Finding]:
    changes = audit.manifest.changes_since(before)
    for name in changes.removed:
        if name not in audit.refused:  # a refused file is a problem of its own
            yield Finding(name, f"listed in {where}, but gone", "put it back")
    for name in audit.manifest.files_since(before).removed:
        if name not in audit.refused:
            yield Finding(name, f"listed in {where}, but gone", "put it back")
    for name in changes.replaced:
        message = f"another record than the one listed in {where}, whose digest is {before.records[name].digest[:16]}"
        yield Finding(name, message, "put the listed one back")
