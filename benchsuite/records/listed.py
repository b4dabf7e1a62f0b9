"""What was found in a results folder against what is listed: in its manifest, in an earlier one, by a digest."""

from collections.abc import Iterator
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.records.audit import Audit
from benchsuite.records.inspection import FileError, Problem
from benchsuite.records.manifest import Manifest, compare, read_manifest, write_manifest
from benchsuite.records.names import MANIFEST

SHORTEST = 16
"""The fewest digits of a digest that are compared."""


def against_manifest(done: Audit) -> list[Problem]:
    """What MANIFEST.json says otherwise; a note where there is none."""
    update = f"`benchsuite verify {done.folder} --update` "
    file = done.folder / MANIFEST
    if not file.exists():
        what = "not there, so nothing tells whether a record was removed"
        done.notes.append(Problem(MANIFEST, what, f"{update}writes it"))
        return []
    try:
        listed = read_manifest(file)
    except FileError as error:
        return [Problem(MANIFEST, error.what, f"put back a version that was written, then {update}adds what is new")]
    added = compare(listed, done.manifest).added
    unlisted = [Problem(name, f"not listed in {MANIFEST}", f"{update}lists it") for name in added]
    return [*_lost(listed, done, MANIFEST), *unlisted]


def against_base(done: Audit, base: Path) -> list[Problem]:
    """Records of an earlier manifest that are gone or others now."""
    if not base.is_file():
        raise UsageError(f"manifest {base}: no such file.")
    return list(_lost(read_manifest(base), done, str(base)))


def against_digest(done: Audit, expected: str) -> list[Problem]:
    """Whether the records there are those that somebody else saw."""
    found = done.manifest.digest
    if len(expected) < SHORTEST or set(expected) - set("0123456789abcdef"):
        raise UsageError(f'--expect "{expected}": give the manifest digest, or at least its first {SHORTEST} digits.')
    if found.startswith(expected):
        return []
    return [Problem(MANIFEST, f"the manifest digest of what is there is {found}", f"{expected} was expected")]


def enlist(done: Audit, allow_removal: bool) -> list[Problem]:
    """Write MANIFEST.json as of the records that are there, unless something speaks against it: then what."""
    file = done.folder / MANIFEST
    if done.problems:
        return [Problem(MANIFEST, "left as it is", "mend the other problems first")]
    before = read_manifest(file) if file.exists() else Manifest.of({})
    changes = compare(before, done.manifest)
    if changes.lost and not allow_removal:
        kept = Problem(MANIFEST, "left as it is", "--allow-removal lets listed records go or be replaced")
        return [*_lost(before, done, MANIFEST), kept]
    write_manifest(file, done.manifest)
    told = [f"{len(names)} {how}" for how, names in vars(changes).items() if names] or ["nothing new"]
    done.notes.append(Problem(MANIFEST, f"written: {', '.join(told)}", ""))
    return []


def _lost(before: Manifest, done: Audit, where: str) -> Iterator[Problem]:
    changes = compare(before, done.manifest)
    for name in changes.removed:
        if name not in done.refused:  # a refused file is a problem of its own
            yield Problem(name, f"listed in {where}, but gone", "put it back")
    for name in changes.changed:
        what = f"another record than the one listed in {where}, whose digest is {before.records[name].digest[:16]}"
        yield Problem(name, what, "put the listed one back")
