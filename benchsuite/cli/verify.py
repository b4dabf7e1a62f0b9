"""`benchsuite verify`: validate a results folder, or one record."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer

from benchsuite.cli.shared.options import RESULTS, AsJson, Folders, Plugins, Results, Tables, load_own, parse_folders
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.errors import UsageError
from benchsuite.records.listing import find_run
from benchsuite.records.names import SECOND
from benchsuite.records.record_file import Finding
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.registry import tasks
from benchsuite.verify.audit import CANNOT_CHECK, Audit, audit_folder, audit_run
from benchsuite.verify.manifest import check_base, check_manifest, manifest_of, update_manifest


def verify(
    what: Annotated[
        str | None,
        typer.Argument(
            help="A results folder (default: that of --results), or one run: its record's file, or its run_id or the "
            "beginning of it.",
            metavar="[FOLDER|RUN]",
        ),
    ] = None,
    base: Annotated[
        list[Path] | None,
        typer.Option(help="An earlier MANIFEST.json: what it lists must still be there. Repeatable.", metavar="FILE"),
    ] = None,
    pack: Annotated[
        bool,
        typer.Option("--pack", help="First pack the records, a file a recipe: a sixth of the room, read as before."),
    ] = False,
    update: Annotated[bool, typer.Option("--update", help="List what is there in MANIFEST.json.")] = False,
    rerun: Annotated[
        int | None,
        typer.Option(min=1, help="Train N records again, chosen at random, and compare every number.", metavar="N"),
    ] = None,
    data: Folders = None,
    results: Results = RESULTS,
    plugin: Plugins = None,
    tables: Tables = None,
    as_json: AsJson = False,
) -> None:
    """Validate records: seals, identities, ranks, every number recomputed from its ranks, and the manifest.

    A second laboratory's, in the folder `second` of the first, too.

    Exit code 1 if anything is wrong. A run done again must give every digit on the same kind of machine with the same
    packages; elsewhere, numbers may lie as far apart as those of the row's seeds.
    """
    from benchsuite.evaluation.rank_metrics import RULES
    from benchsuite.verify.stored_tables import check_tables

    if data and not rerun:
        raise UsageError("--data goes with --rerun, which reads data again.")
    load_own(tables, plugin)
    what = what or str(results)
    unloaded = []
    for card in tasks.cards().values():  # of installed packages: the import registers their rules
        if not card.module.startswith("benchsuite."):
            try:
                tasks.get(card.name)
            except UsageError as error:
                message = f"its numbers are not recomputed: {error}"
                unloaded.append(Finding(f"task {card.name}", message, "install what it imports"))
    audits = []
    for folder in (Path(what), Path(what) / SECOND):
        if folder.is_dir():
            if pack:
                Store(folder).pack()
            audits.append(audit := audit_folder(folder, RULES))
            check_tables(audit)
            audit.notes += unloaded
            if not update:
                check_manifest(audit)
    if audits:
        check_base(audits[0], *(base or ()))
        if update:
            for audit in audits:
                update_manifest(audit)
    elif update or base or pack:
        raise UsageError(f"{what}: no such folder. --update, --pack and --base need a results folder.")
    else:
        audits = [audit_run(find_run(results, what), RULES)]
    first, *second = audits
    if rerun:
        train_again(first, rerun, parse_folders(data), plugin or [])
    if as_json:
        say_json(as_data(first) | ({SECOND: as_data(second[0])} if second else {}))
    else:
        say(*(line for audit in audits for line in lines(audit)))
    if any(audit.problems for audit in audits):
        raise typer.Exit(1)


def train_again(audit: Audit, count: int, folders: Mapping[str, str], plugins: list[Path]) -> None:
    """Train that many of the valid records again, drawn at random, and add what was found. They stay as they are."""
    from benchsuite.execution.pool import Pool
    from benchsuite.verify.rerun import devices_of, draw
    from benchsuite.work.session import Lines, signals_raised

    with tempfile.TemporaryDirectory(prefix="benchsuite-rerun-") as folder:
        count = min(count, len(audit.records))
        runs, left_out = draw(audit.records, count, Random(), folders, Path(folder))
        for name, reason in left_out.items():
            audit.notes.append(Finding(name, f"cannot be run again here: {reason}", ""))
        if len(runs) < count:
            message = f"{len(runs)} of {count} records to run again could be drawn"
            audit.problems.append(Finding(str(audit.path), message, "the notes say why"))
        shown = Lines(len(runs), say)
        with signals_raised():
            for name, run in runs.items():
                record = audit.records[name]
                threads = record.environment.get("threads")
                pool = Pool(devices_of(record), Path(folder) / "logs", plugins, threads=threads)
                with closing(pool.execute([run])) as events:
                    for event in events:
                        shown.show(event)
                        judge(audit, name, record, event)


def judge(audit: Audit, name: str, record: Record, event: object) -> None:
    """Add what the end of a second training says of its record, beside the other seeds of its folder."""
    from benchsuite.execution.events import Failed, Finished
    from benchsuite.records.contents import read_contents
    from benchsuite.verify.retrained import Again, is_other_seed

    if isinstance(event, Failed):
        audit.problems.append(Finding(name, f"run again: it fails: {event.reason}", "measure it again"))
    if isinstance(event, Finished):
        alone = not audit.path.is_dir()
        others = read_contents(audit.path.parent).records.values() if alone else audit.records.values()
        row = [other for other in others if is_other_seed(other, record)]
        again = Again(name, record, event.record, row)
        audit.problems += again.problems()
        audit.notes += again.notes()


def lines(audit: Audit) -> Iterator[str]:
    """Problems first, then notes, the digest, the verdict and its limits."""
    valid = f"{len(audit.records)} valid record{'s' * (len(audit.records) != 1)}"
    trials = sum(len(file.trials) for file in audit.contents.trials.values())
    tuned = f", {trials} tuning trials" * bool(trials)
    yield f"{audit.path}: {valid}, {audit.agreed} numbers recomputed from their ranks{tuned}"
    for title, findings in (("problems", audit.problems), ("notes", audit.notes)):
        if findings:
            yield f"{title}:"
            yield from (f"  {finding}" for finding in findings)
    if audit.not_recomputable:
        yield "not recomputable:"
        for (task, why), names in sorted(audit.not_recomputable.items()):
            yield f"  {task}: {', '.join(sorted(names))} ({why})"
    if audit.path.is_dir():
        yield f"manifest digest: {manifest_of(audit).digest}"
    count = len(audit.problems)
    sound = "verified." if holds(audit) else "nothing to verify: no record, no table, no trials."
    yield f"NOT verified: {count} problem{'s' * (count != 1)}." if count else sound
    yield "This cannot check"
    yield from (f"  {limit}" for limit in CANNOT_CHECK)


def holds(audit: Audit) -> bool:
    """Whether there is anything to verify."""
    return bool(audit.records or audit.files)


def as_data(audit: Audit) -> dict[str, Any]:
    """For --json."""
    return {
        "path": str(audit.path),
        "verified": holds(audit) and not audit.problems,
        "records": {name: record.run_id for name, record in audit.records.items()},
        "numbers_recomputed": audit.agreed,
        "problems": [vars(finding) for finding in audit.problems],
        "notes": [vars(finding) for finding in audit.notes],
        "trials": {recipe: len(file.trials) for recipe, file in audit.contents.trials.items()},
        "not_recomputable": [
            {"task": task, "numbers": sorted(names), "reason": why}
            for (task, why), names in sorted(audit.not_recomputable.items())
        ],
        "manifest_digest": manifest_of(audit).digest if audit.path.is_dir() else None,
        "cannot_check": list(CANNOT_CHECK),
    }
