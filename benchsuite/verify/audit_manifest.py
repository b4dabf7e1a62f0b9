"""A validated folder against its MANIFEST.json and earlier ones: what is gone, replaced or not listed."""

from collections.abc import Iterator
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.locks import lock_of, locked
from benchsuite.records.names import MANIFEST
from benchsuite.records.record_file import FileError, Finding
from benchsuite.verify.audit import Audit
from benchsuite.verify.manifest import FolderManifest, is_record, read_manifest, write_manifest


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
        fix = f"put back a version that was written, or delete it; {update}then writes it anew"
        audit.problems.append(Finding(MANIFEST, error.reason, fix))
        return
    audit.problems += _lost(listed, audit, MANIFEST)
    changes = audit.manifest.changes_since(listed)
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
        for finding in _lost(listed, audit, str(base)):
            lost.setdefault(finding.file, finding)
        for name in audit.manifest.changes_since(listed).replaced:
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
        changes = audit.manifest.changes_since(read_manifest(file) if file.exists() else FolderManifest.of({}))
        write_manifest(file, audit.manifest)
    told = [f"{len(changes.added)} added"] if changes.added else []
    told += [f"{name} removed" for name in changes.removed] + [f"{name} replaced" for name in changes.replaced]
    audit.notes.append(Finding(MANIFEST, f"written: {', '.join(told) or 'nothing new'}", ""))


def _lost(before: FolderManifest, audit: Audit, where: str) -> Iterator[Finding]:
    changes = audit.manifest.changes_since(before)
    for name in changes.removed:
        if name not in audit.refused:  # a refused file is a problem of its own
            yield Finding(name, f"listed in {where}, but gone", "put it back")
    for name in filter(is_record, changes.replaced):
        message = f"another record than the one listed in {where}, whose digest is {before.files[name][:16]}"
        yield Finding(name, message, "put the listed one back")
