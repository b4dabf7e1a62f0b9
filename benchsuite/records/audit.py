"""Can a results folder be trusted? Every record against itself, its ranks and the others."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.records.code_version import code_state, stale
from benchsuite.records.contents import read_contents
from benchsuite.records.inspection import FileError, Found, Problem
from benchsuite.records.manifest import Manifest, compare, read_manifest, write_manifest
from benchsuite.records.names import FAILED, MANIFEST, RANKS, stem
from benchsuite.records.ranks import read_ranks
from benchsuite.records.recheck import Rechecked, Rule, recheck
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record

CANNOT_PROVE = (
    "that a run happened: whoever can compute digests can write a record that agrees with itself",
    "that the environment, the cost and the time of a record are true: nothing measures them again",
    "that ranks are those of the model that was trained: models are not kept",
    "that what ranks do not tell is true: curves, geometry, digests of weights and batches",
    "that no run was left out before it was listed: an unlisted record leaves no trace when it is deleted",
    "who wrote the manifest: its digest is worth as much as the place it is compared with (--expect, --base)",
)


@dataclass
class Audit:
    """What was found in a folder; `problems` are reasons not to trust it, `notes` are not."""

    folder: Path
    records: dict[str, Record] = field(default_factory=dict)
    """The sound ones, by file name."""
    refused: set[str] = field(default_factory=set)
    """Names of the files that hold no sound record."""
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    rechecked: Rechecked = field(default_factory=Rechecked)

    @property
    def manifest(self) -> Manifest:
        """Of the sound records that are there."""
        return Manifest.of(self.records)


def audit(folder: Path, rules: Mapping[str, Rule]) -> Audit:
    """Everything but the manifest."""
    contents = read_contents(folder)
    done = Audit(folder)
    for one in contents.found:
        problems = [*one.problems, *_name_problems(one), *_number_problems(one, rules, done.rechecked)]
        done.problems += problems
        if one.record and not problems:
            done.records[one.file.name] = one.record
        else:
            done.refused.add(one.file.name)
    done.problems += [unreadable(error, folder) for error in contents.unreadable]
    done.notes += [Problem(file.name, "not a record, left alone", "") for file in contents.foreign]
    done.notes += _strangers(folder, contents.found)
    done.notes += _code_notes(done.records)
    done.notes += _missing_runs(contents.requests, {one.record.run_id for one in contents.found if one.record})
    return done


def _name_problems(one: Found) -> Iterator[Problem]:
    if one.record is None:
        return
    right = f"{stem(one.record.method.name, one.record.seed, one.record.run_id)}.json"
    if one.file.name != right and not one.problems:
        yield Problem(one.file.name, "not named as its run is", f"name it {right}")


def _number_problems(one: Found, rules: Mapping[str, Rule], total: Rechecked) -> Iterator[Problem]:
    """Numbers that do not follow from the ranks; looked for in edited records too, to say what was edited."""
    if one.record is None or not one.ranks_sound:
        return
    try:
        done = recheck(one.record, read_ranks(one.file.parent, one.record), rules)
    except FileError as error:
        yield unreadable(error, one.file.parent)
        return
    total.agreed += done.agreed
    for task, names in done.not_recomputable.items():
        total.not_recomputable.setdefault(task, set()).update(names)
    yield from (Problem(one.file.name, text) for text in done.differs)


def unreadable(error: FileError, folder: Path) -> Problem:
    """A file that cannot be used, as a problem of its folder."""
    return Problem(str(error.file.relative_to(folder)), error.what)


def _strangers(folder: Path, found: list[Found]) -> Iterator[Problem]:
    """Files without a record: left by an interrupted write, or somebody's own."""
    named = {one.record.ranks.file for one in found if one.record}
    for file in sorted(folder.iterdir()):
        if file.is_dir() or file.name.startswith(".writable-"):
            continue
        if file.name.startswith("."):
            yield Problem(file.name, "left by an interrupted write", "it may be deleted")
        elif file.name.endswith(RANKS) and file.name not in named:
            yield Problem(file.name, "ranks that no record names: left by an interrupted write", "they may be deleted")
        elif not file.name.endswith((".json", FAILED, RANKS)):
            yield Problem(file.name, "not the suite's, left alone", "")


def _code_notes(records: Mapping[str, Record]) -> Iterator[Problem]:
    for name, record in records.items():
        if said := stale(record):
            yield Problem(name, said, "the command that measured it measures it again, under another run_id")
    unknown = Counter(record.method.name for record in records.values() if code_state(record) == "unknown")
    for method, count in sorted(unknown.items()):
        what = f"{count} records: whether its code has changed is not known, because it is not registered here"
        yield Problem(f"method {method}", what, "load its file with --plugin")


def _missing_runs(requests: list[TableRequest], there: set[str]) -> Iterator[Problem]:
    """Seeds that a table asked for and that have no record, row by row."""
    for request in requests:
        for row in request.rows:
            for part, runs in row.parts.items():
                seeds = [str(seed) for seed, run in sorted(runs.runs.items()) if run not in there]
                if seeds:
                    name = " ".join(filter(None, (row.backbone, row.variant, row.label, part)))
                    what = f"{name}: no record for seed {', '.join(seeds)}"
                    yield Problem(f"tables/{request.name}.json", what, "repeat the command to measure what is missing")


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
