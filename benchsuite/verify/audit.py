"""Validate a results folder or one record: each record against itself, its ranks, and the others of its setup."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.files import is_lock, read_stored, reason_of, sha256_of
from benchsuite.grouping import by_key
from benchsuite.records.contents import Contents, read_contents
from benchsuite.records.listing import PACK, packed_in, read_pack
from benchsuite.records.method_version import stale, version_state
from benchsuite.records.names import (
    LARGEST_TRIALS,
    LARGEST_WEIGHTS,
    RANKS,
    REMARKS,
    REQUEST_FILES,
    TRIAL_FILES,
    TRIALS,
    WEIGHTS,
    files_like,
)
from benchsuite.records.ranks import NEAREST, open_ranks
from benchsuite.records.recompute import RankRule, recompute
from benchsuite.records.record_file import (
    DELETE,
    PUT_BACK,
    Count,
    FileError,
    Finding,
    Numbers,
    RecordFile,
    named_rightly,
    read_record_file,
    with_ranks,
)
from benchsuite.records.schema import FIRST_SEED, Record
from benchsuite.registry import methods

CANNOT_CHECK = (
    "that a run happened: anyone who can compute digests can write a record that agrees with itself (--rerun)",
    "that a record's environment, cost and time are true: nothing measures them again",
    "that the ranks come from the trained model (where its weights are kept, `benchsuite evaluate` measures it again)",
    "numbers that do not follow from ranks: curves, geometry, digests of weights and batches",
    "that a trial's draw was refused by its method where the trial has a later one",
    "that no run was dropped before it was listed: an unlisted record leaves no trace when it is deleted",
    "who wrote the manifest: compare its digest with one from elsewhere, or it with an earlier one (--base)",
)
NO_CONTENTS = Contents({}, {}, [], [], [], [])
Rules = Mapping[str, RankRule]


@dataclass
class Audit:
    """Result of validating a folder or a record's file. Only `problems` make it not valid; `notes` do not."""

    path: Path
    records: dict[str, Record] = field(default_factory=dict)
    """The valid ones, by file name."""
    refused: set[str] = field(default_factory=set)
    """Names of the files that hold no valid record."""
    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    agreed: int = 0
    """How many numbers agree with their ranks."""
    not_recomputable: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Numbers that do not follow from ranks, by task and reason."""
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the stored tables, recipes and files of trials by path."""
    ranks: dict[str, str] = field(default_factory=dict)
    """Digests of the values of the records' ranks, by file name."""
    contents: Contents = NO_CONTENTS
    """Of the folder."""

    def add(self, file: RecordFile) -> None:
        """Check a record's file: its own problems, its name, and its numbers."""
        numbers = file.numbers or Numbers()  # of edited records too, to say what was edited
        problems = [*file.problems, *numbers.problems, *_wrong_weights(file)]
        self.agreed += numbers.agreed
        for reason, names in numbers.not_recomputable.items():
            self.not_recomputable.setdefault(reason, set()).update(names)
        problems += _impossible(file) if not problems else ()
        if file.record and not problems:
            self.records[file.name] = file.record
            if file.numbers:
                self.ranks[file.name] = numbers.ranks
            else:
                self.notes.append(Finding(file.name, WITHOUT_RANKS, "`compare --again` measures it here"))
        else:
            self.problems += problems
            self.refused.add(file.name)


WITHOUT_RANKS = "it comes with benchsuite, without its ranks: its numbers cannot be recomputed"


def counting(rules: Rules) -> Count:
    """What recomputes all numbers of a record from the bytes of its ranks."""

    def count(path: Path, record: Record, content: bytes) -> Numbers:
        done = Numbers()
        try:
            ranks = open_ranks(path.with_name(Path(record.ranks.file).name), content, record.results)
            for name, result in record.results.items():
                protocol = record.setup.protocols.get(name)
                again = recompute(result, ranks.of(name), protocol.options if protocol else {}, rules)
                done.agreed += again.agreed
                if again.not_recomputable:
                    done.not_recomputable.setdefault((result.task, again.why), set()).update(again.not_recomputable)
                done.problems += (Finding(path.name, f"{name}: {difference}") for difference in again.differs)
        except FileError as error:
            done.problems.append(unreadable(error, path.parent))
            return done
        values = [ranks[key] for key in sorted(ranks) if not key.endswith(NEAREST)]  # older files are without
        if any(each.max(initial=0) > 2 for each in values):  # else right or wrong, in which runs may well agree
            done.ranks = sha256(b"".join(each.astype("int64").tobytes() for each in values)).hexdigest()
        unknown = sorted(key for key in ranks if key.rpartition(".")[0] not in record.results)
        done.problems += (
            Finding(path.name, f"{key}: ranks of a protocol that the record does not have") for key in unknown
        )
        return done

    return count


def audit_folder(folder: Path, rules: Rules) -> Audit:
    """Everything in a results folder but the manifest."""
    contents = read_contents(folder, counting(rules))
    added = (*contents.tables.values(), *contents.recipes.values())
    stored = sorted([*added, *files_like(folder, REQUEST_FILES), *files_like(folder, TRIAL_FILES)])
    audit = Audit(folder, contents=contents)
    for path in stored:
        name = path.relative_to(folder).as_posix()
        try:
            audit.files[name] = sha256(read_stored(path, LARGEST_TRIALS)).hexdigest()
        except OSError as error:
            audit.refused.add(name)
            if path not in {unread.file for unread in contents.unreadable}:
                audit.problems.append(Finding(name, f"it cannot be read ({reason_of(error)})"))
    for file in contents.files:
        audit.add(file)
    audit.problems += [unreadable(error, folder) for error in contents.unreadable]
    audit.notes += [Finding(file.name, "not a record, ignored", "") for file in contents.foreign]
    audit.notes += _other_files(folder, contents.files)
    audit.problems += [*check_digests(audit.records), *check_counts(audit.records)]
    audit.problems += check_repeats(audit.records, audit.ranks)
    tuned = {name: record for name, record in audit.records.items() if record.tuned}
    if contents.trials or tuned:
        from benchsuite.verify import audit_trials  # with pyarrow, and few folders have trials

        for recipe, trials in contents.trials.items():
            where = f"{TRIALS}/{recipe}.parquet"
            audit.problems += [*audit_trials.check_trials(trials, where), *audit_trials.check_draws(trials, where)]
            audit.notes += audit_trials.unknown_draws(trials, where)
        audit.problems += audit_trials.check_tuned(tuned, contents.trials.values())
    audit.notes += _version_notes(audit.records)
    return audit


def audit_run(path: Path, rules: Rules) -> Audit:
    """One record's file, with the ranks beside it."""
    file = read_record_file(path)
    if file is None:
        raise UsageError(f"{path}: not a record. Name a record's file, a run or a results folder.")
    audit = Audit(path)
    audit.add(named_rightly(with_ranks(file, counting(rules))))
    audit.notes += _version_notes(audit.records)
    return audit


def unreadable(error: FileError, folder: Path) -> Finding:
    """A file that cannot be used, as a problem of its folder."""
    fix = PUT_BACK if error.fix == DELETE else error.fix
    return Finding(str(error.file.relative_to(folder)), error.reason, fix)


def _impossible(file: RecordFile) -> Iterator[Finding]:
    """What no run of a method that is known here can have."""
    assert file.record
    record, name = file.record, file.name
    if not 0 <= record.seed < FIRST_SEED:
        yield Finding(
            name, f"seed {record.seed} is none of a reported run; trials of tuning have those from {FIRST_SEED} on"
        )
    if version_state(record.method) == "current":
        fields = {field.name for field in methods.card(record.method.name).fields}
        if odd := sorted(fields ^ record.method.hyperparameters.keys()):
            what = "does not have" if odd[0] in record.method.hyperparameters else "has, but the record does not"
            yield Finding(name, f"{odd[0]} is a hyper-parameter that {record.method.name} {what}")


def _wrong_weights(file: RecordFile) -> Iterator[Finding]:
    """Kept weights that are not those of the record. They may be absent: they are large, and no number needs them."""
    if file.record is None or file.record.weights is None:
        return
    kept = file.file.parent / WEIGHTS / Path(file.record.weights.file).name
    fix = "put them back as they were written, or delete them: the record is valid without"
    try:
        if sha256_of(kept, LARGEST_WEIGHTS) != file.record.weights.sha256:
            yield Finding(file.name, f"{WEIGHTS}/{kept.name} are not what it was sealed with", fix)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # an impossible name is a ValueError
        reason = reason_of(error)
        yield Finding(file.name, f"its weights, {WEIGHTS}/{kept.name}, cannot be read ({reason})", fix)


def _other_files(folder: Path, files: list[RecordFile]) -> Iterator[Finding]:
    """Files without a record: left by an interrupted write, or not written by benchsuite."""
    named = {file.record.ranks.file for file in files if file.record}
    kept = {file.record.weights.file for file in files if file.record and file.record.weights}
    for path in sorted((folder / WEIGHTS).glob("*")):
        if path.name not in kept:
            yield Finding(f"{WEIGHTS}/{path.name}", "weights without a record", "they may be deleted")
    for path in sorted(folder.iterdir()):
        if path.is_dir() or path.name.startswith(".writable-") or is_lock(path):
            continue
        if path.name.startswith("."):
            yield Finding(path.name, "left by an interrupted write", "it may be deleted")
        elif path.name.endswith(RANKS) and path.name not in named:
            yield Finding(path.name, "ranks without a record: left by an interrupted write", "they may be deleted")
        elif path.name.endswith(PACK):
            yield from _in_pack(path)
        elif path.name != REMARKS and not path.name.endswith((".json", *RANKS)):
            yield Finding(path.name, "not written by benchsuite, ignored", "")


def _in_pack(pack: Path) -> Iterator[Finding]:
    """Packed files that are not read. A pack that cannot be read is a problem of its own."""
    found = packed_in(pack.parent)
    with suppress(ValueError):
        for name in read_pack(pack):
            if pack.with_name(name).exists() or found[name].pack != pack:
                why = f"{name} in it is not read, because it is there again"
                yield Finding(pack.name, why, "--pack keeps the one that is read")


def _version_notes(records: Mapping[str, Record]) -> Iterator[Finding]:
    for name, record in records.items():
        if reason := stale(record):
            yield Finding(name, reason, "the same command measures it again, under another run_id")
    methods = [record.method for record in records.values()]
    unknown = Counter(method.name for method in methods if version_state(method) == "unknown")
    for method, count in sorted(unknown.items()):
        unsure = "whether it has another version now is unknown, because it is not registered here"
        yield Finding(
            f"method {method}", f"{count} record{'s' * (count != 1)}: {unsure}", "load its file with --plugin"
        )


def check_digests(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Records of one setup, seed and data had the same batches, initial weights and words: digests show it.

    `records`: by file name. A digest that differs from most others of its setup and seed is a problem of its record;
    if there is no majority, of each.
    """
    by_seed = by_key(
        ((record.setup_id, record.seed, *record.setup.data.drawn.values()), name) for name, record in records.items()
    )
    for names in by_seed.values():
        for kind in sorted({kind for name in names for kind in records[name].digests}):
            yield from _odd_ones(kind, {name: records[name].digests.get(kind) for name in names})


def check_counts(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Records of one setup and the same data have as many test items in each protocol."""
    by_protocol: defaultdict[tuple[str, str | None, str], dict[str, str]] = defaultdict(dict)
    for name, record in records.items():
        for protocol, result in record.results.items():
            items = ", ".join(f"{key} {n}" for key, n in sorted(result.counts.items()))
            data = record.digests.get("data")
            by_protocol[record.setup_id, data, protocol][name] = f"{items}; split {result.split_size}"
    for (_, _, protocol), counts in by_protocol.items():
        yield from _odd_ones(f"number of items of {protocol}", counts)


def check_repeats(records: Mapping[str, Record], ranks: Mapping[str, str]) -> Iterator[Finding]:
    """No two replicates of a row have the same ranks, unless all answers are right, or all wrong.

    `ranks`: digests of their values by file name; empty where they say no more than right or wrong.
    """
    first: dict[tuple[str, str, str], tuple[str, int]] = {}
    for name, record in records.items():
        shares = {value for result in record.results.values() for value in result.metrics.values()}
        if ranks.get(name) and not shares <= {0, 1}:
            other, seed = first.setdefault((record.setup_id, record.row_id, ranks[name]), (name, record.seed))
            if seed != record.seed:
                yield Finding(name, f"its ranks are those of seed {seed}, {other}, too", "measure the run again")


def _odd_ones(kind: str, values: Mapping[str, str | None]) -> Iterator[Finding]:
    """Files whose value is not that of most; runs that do not have one, such as clusters, are not compared."""
    there = {name: value for name, value in values.items() if value is not None}
    counts = sorted(((list(there.values()).count(value), value) for value in {*there.values()}), reverse=True)
    if len(counts) < 2:
        return
    usual = counts[0][1] if counts[0][0] > counts[1][0] else None
    for name, value in there.items():
        if value != usual:
            others = "others of its setup and seed have" if usual is None else "most of its setup and seed have"
            yield Finding(name, f"{kind} is {value}; {others} {usual or 'another'}")
