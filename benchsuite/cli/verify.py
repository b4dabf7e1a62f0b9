"""`benchsuite verify`: can a results folder be trusted?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from benchsuite.cli.options import RESULTS, Plugins, load_plugins
from benchsuite.errors import UsageError
from benchsuite.records.audit import CANNOT_PROVE, Audit, against_base, against_digest, against_manifest, audit, enlist


def verify(
    folder: Annotated[Path, typer.Argument(help="The results folder.")] = RESULTS,
    expect: Annotated[
        str | None, typer.Option(help="The manifest digest that must come out, or its beginning.", metavar="DIGEST")
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(help="An earlier MANIFEST.json: what it lists must still be there.", metavar="FILE"),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="List the records that are there in MANIFEST.json.")] = False,
    allow_removal: Annotated[
        bool, typer.Option("--allow-removal", help="With --update: let listed records go, or be replaced.")
    ] = False,
    plugin: Plugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check each record against itself, its ranks, the others and the manifest. Exit code 1 if any is not sound."""
    from benchsuite.evaluation.rank_metrics import RULES

    if not folder.is_dir():
        raise UsageError(f"results folder {folder} does not exist. Name one, as in `benchsuite verify results`.")
    if allow_removal and not update:
        raise UsageError("--allow-removal goes with --update, which writes the manifest.")
    load_plugins(plugin)
    done = audit(folder, RULES)
    done.problems += enlist(done, allow_removal) if update else against_manifest(done)
    done.problems += against_base(done, base) if base else ()
    done.problems += against_digest(done, expect) if expect is not None else ()
    print(json.dumps(as_data(done), indent=2, ensure_ascii=False) if as_json else "\n".join(lines(done)))
    if done.problems:
        raise typer.Exit(1)


def lines(done: Audit) -> Iterator[str]:
    """Problems first, then what is only worth knowing, the digest, the verdict and its limits."""
    sound = f"{len(done.records)} sound record{'s' * (len(done.records) != 1)}"
    yield f"{done.folder}: {sound}, {done.rechecked.agreed} numbers as their ranks have them"
    for title, found in (("problems", done.problems), ("notes", done.notes)):
        if found:
            yield f"{title}:"
            yield from (f"  {one}" for one in found)
    if done.rechecked.not_recomputable:
        yield "not checked again (`benchsuite rescore RUN` does what the task's own code can):"
        yield from (
            f"  {task}: {', '.join(sorted(names))}" for task, names in sorted(done.rechecked.not_recomputable.items())
        )
    yield f"manifest digest: {done.manifest.digest}"
    count = len(done.problems)
    yield f"NOT verified: {count} problem{'s' * (count != 1)}." if count else "verified."
    yield "This cannot prove"
    yield from (f"  {limit}" for limit in CANNOT_PROVE)


def as_data(done: Audit) -> dict[str, Any]:
    """For --json."""
    return {
        "folder": str(done.folder),
        "verified": not done.problems,
        "records": {name: record.run_id for name, record in done.records.items()},
        "numbers_checked": done.rechecked.agreed,
        "problems": [vars(one) for one in done.problems],
        "notes": [vars(one) for one in done.notes],
        "not_checked": {task: sorted(names) for task, names in sorted(done.rechecked.not_recomputable.items())},
        "manifest_digest": done.manifest.digest,
        "cannot_prove": list(CANNOT_PROVE),
    }
