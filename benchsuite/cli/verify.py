"""`benchsuite verify`: validate a results folder, or one record."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from benchsuite.cli.shared.options import (
    RESULTS,
    AsJson,
    Folders,
    Plugins,
    Repository,
    Results,
    Tables,
    TrustedRoot,
    load_own,
    parse_folders,
)
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.errors import UsageError
from benchsuite.folders import tables_in
from benchsuite.records.names import TRIALS, find_run
from benchsuite.records.provenance import provenance, trust_in
from benchsuite.records.record_file import Finding
from benchsuite.records.reruns import read_reruns
from benchsuite.records.sigstore_bundle import Trust
from benchsuite.registry import tasks
from benchsuite.verify.audit import CANNOT_CHECK, Audit, audit_folder, audit_run
from benchsuite.verify.audit_manifest import check_base, check_digest, check_manifest, update_manifest


def verify(
    what: Annotated[
        str,
        typer.Argument(
            help="A results folder, or one run: its record's file, or its run_id or the beginning of it.",
            metavar="[FOLDER|RUN]",
        ),
    ] = str(RESULTS),
    expect: Annotated[
        str | None, typer.Option(help="The manifest digest that must come out, or its beginning.", metavar="DIGEST")
    ] = None,
    base: Annotated[
        list[Path] | None,
        typer.Option(help="An earlier MANIFEST.json: what it lists must still be there. Repeatable.", metavar="FILE"),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="List the records that are there in MANIFEST.json.")] = False,
    allow_removal: Annotated[
        bool, typer.Option("--allow-removal", help="With --update: let listed records be removed or replaced.")
    ] = False,
    rerun: Annotated[
        int | None,
        typer.Option(min=1, help="Train N records again, chosen at random, and compare every number.", metavar="N"),
    ] = None,
    store: Annotated[
        bool, typer.Option("--store", help="With --rerun: store what came out, for pages. The records stay.")
    ] = False,
    attested: Annotated[
        bool, typer.Option("--provenance", help="Verify attestations: which workflow run trained which records.")
    ] = False,
    repository: Repository = None,
    trusted_root: TrustedRoot = None,
    data: Folders = None,
    results: Results = RESULTS,
    plugin: Plugins = None,
    tables: Tables = None,
    as_json: AsJson = False,
) -> None:
    """Validate records: seals, identities, ranks, every number recomputed from its ranks, and the manifest.

    Exit code 1 if anything is wrong. A run done again must give every digit on the same kind of machine with the same
    packages; elsewhere, numbers may lie as far apart as those of the row's seeds. An attestation must be signed by the
    workflow measure.yml on the main branch of --repository; nothing is asked of the network.
    """
    from benchsuite.evaluation.rank_metrics import RULES
    from benchsuite.verify.stored_tables import outdated, problems

    if allow_removal and not update:
        raise UsageError("--allow-removal goes with --update, which writes the manifest.")
    if trusted_root and not attested:
        raise UsageError("--trusted-root goes with --provenance, which verifies signatures.")
    if store and not rerun:
        raise UsageError("--store goes with --rerun, which trains again.")
    if data and not rerun:
        raise UsageError("--data goes with --rerun, which reads data again.")
    load_own(tables, plugin)
    unloaded = list(load_rules())
    if Path(what).is_dir():
        audit = audit_folder(Path(what), RULES)
        audit.problems += problems(audit.path, audit.requests, list(audit.records.values()))
        audit.notes += [*unloaded, *outdated(tables_in(audit.path))]
        redraw(audit)
        add_reruns(audit)
        update_manifest(audit, allow_removal) if update else check_manifest(audit)
        check_base(audit, *(base or ()))
        if attested:
            add_provenance(audit, trust_in(repository, trusted_root))
        if expect is not None:
            check_digest(audit, expect)
    elif update or base or attested or expect is not None:
        options = "--update, --base, --expect and --provenance"
        raise UsageError(f"{what}: no such folder. {options} need a results folder.")
    else:
        audit = audit_run(find_run(results, what), RULES)
    if rerun:
        from benchsuite.cli.rerun import rerun as run_again

        run_again(audit, rerun, parse_folders(data), plugin or [], store)
    say_json(as_data(audit)) if as_json else say(*lines(audit))
    if audit.problems:
        raise typer.Exit(1)


def load_rules() -> Iterator[Finding]:
    """Import the tasks of installed packages, which register their rules; a note on each that cannot be imported."""
    for card in tasks.cards().values():
        if not card.module.startswith("benchsuite."):
            try:
                tasks.get(card.name)
            except ImportError as error:
                message = f"its module {card.module} cannot be imported ({error}), so its numbers are not recomputed"
                yield Finding(f"task {card.name}", message, "install what it imports")


def add_provenance(audit: Audit, trust: Trust) -> None:
    """Check which of the valid records a workflow run trained."""
    found = provenance(audit.path, audit.records.values(), trust)
    audit.signatures = found.signatures
    audit.problems += found.problems
    audit.notes += found.notes


def add_reruns(audit: Audit) -> None:
    """Compare stored second trainings with their records."""
    reruns, errors = read_reruns(audit.path)
    audit.problems += [Finding(str(error.file.relative_to(audit.path)), error.reason) for error in errors]
    if reruns:
        from benchsuite.analysis.vouchers import Kind, vouchers

        found = vouchers({record.run_id: record for record in audit.records.values()}, reruns)
        audit.problems += found.problems
        audit.notes += found.notes
        audit.verified = {run for run, kind in found.kinds.items() if kind is Kind.verified}


def redraw(audit: Audit) -> None:
    """Check what the trials of the folder drew."""
    if audit.trials:
        from benchsuite.verify.redraw import check_draws, unknown_draws

        for recipe, file in audit.trials.items():
            where = f"{TRIALS}/{recipe}.parquet"
            audit.problems += check_draws(file, where)
            audit.notes += unknown_draws(file, where)


def lines(audit: Audit) -> Iterator[str]:
    """Problems first, then notes, the digest, the verdict and its limits."""
    valid = f"{len(audit.records)} valid record{'s' * (len(audit.records) != 1)}"
    trials = sum(len(file.trials) for file in audit.trials.values())
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
    if audit.signatures is not None:
        yield f"attested: {len(audit.signatures)} of {len(audit.records)} valid records"
    if audit.verified:
        yield f"verified by a stored second training: {len(audit.verified)} of {len(audit.records)} valid records"
    if audit.path.is_dir():
        yield f"manifest digest: {audit.manifest.digest}"
    count = len(audit.problems)
    yield f"NOT verified: {count} problem{'s' * (count != 1)}." if count else "verified."
    yield "This cannot check"
    yield from (f"  {limit}" for limit in CANNOT_CHECK)


def as_data(audit: Audit) -> dict[str, Any]:
    """For --json."""
    return {
        "path": str(audit.path),
        "verified": not audit.problems,
        "records": {name: record.run_id for name, record in audit.records.items()},
        "numbers_recomputed": audit.agreed,
        "problems": [vars(finding) for finding in audit.problems],
        "notes": [vars(finding) for finding in audit.notes],
        "trials": {recipe: len(file.trials) for recipe, file in audit.trials.items()},
        "not_recomputable": [
            {"task": task, "numbers": sorted(names), "reason": why}
            for (task, why), names in sorted(audit.not_recomputable.items())
        ],
        "attested": attestations(audit),
        "trained_again": sorted(name for name, record in audit.records.items() if record.run_id in audit.verified),
        "manifest_digest": audit.manifest.digest if audit.path.is_dir() else None,
        "cannot_check": list(CANNOT_CHECK),
    }


def attestations(audit: Audit) -> dict[str, str] | None:
    """The workflow run of each attested record, by file name; None if that was not asked."""
    if audit.signatures is None:
        return None
    signed = {name: audit.signatures.get(record.run_id) for name, record in audit.records.items()}
    return {name: signature.workflow_run for name, signature in signed.items() if signature}
