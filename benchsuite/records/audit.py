"""Can a results folder be trusted? Every record against itself, its ranks and the others."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchsuite.records.asked import Asked
from benchsuite.records.contents import read_contents
from benchsuite.records.inspection import FileError, Found, Problem
from benchsuite.records.manifest import Manifest
from benchsuite.records.names import FAILED, RANKS, stem
from benchsuite.records.ranks import read_ranks
from benchsuite.records.recheck import Rechecked, Rule, recheck
from benchsuite.records.schema import Record
from benchsuite.records.stale import code_state, stale

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
    done.notes += _missing_runs(contents.asked, {one.record.run_id for one in contents.found if one.record})
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
    for task, names in done.untold.items():
        total.untold.setdefault(task, set()).update(names)
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


def _missing_runs(requests: list[Asked], there: set[str]) -> Iterator[Problem]:
    """Seeds that a table asked for and that have no record, row by row."""
    for asked in requests:
        for row in asked.rows:
            for part, runs in row.parts.items():
                seeds = [str(seed) for seed, run in sorted(runs.runs.items()) if run not in there]
                if seeds:
                    name = " ".join(filter(None, (row.backbone, row.variant, row.label, part)))
                    what = f"{name}: no record for seed {', '.join(seeds)}"
                    yield Problem(f"tables/{asked.name}.json", what, "repeat the command to measure what is missing")
