"""`benchsuite regress`: did a code change alter what methods compute, or how they score?"""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import AsJson, Plugins, load_plugins, methods_asked_for
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.errors import UsageError
from benchsuite.files import require_writable, write_named
from benchsuite.harmless import json_lines


def regress(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Methods, or files that register some (default: all built in).", metavar="METHOD|FILE..."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Store the values of built-in methods now.")] = False,
    store: Annotated[Path | None, typer.Option(help="Write the scores of methods.", metavar="FILE")] = None,
    against: Annotated[Path | None, typer.Option(help="Compare with scores of before.", metavar="FILE")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="Of the scores (default: emoji-features-pairs, or that of FILE).")
    ] = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods with stored values.

    Of built-in methods values on fixed embeddings and first steps are compared with the expectations of this package;
    values that changed on purpose need a raised version of the method, then --update stores them. Of any methods
    --store keeps the scores, and --against fails where they fell by more than the interval over replicates allows.
    Exit code 1 if a method regressed, or crashed where expectations are compared; 3 if one crashed in a training.
    """
    from benchsuite.gate.regress import BAD, expectations_file, gate, gated, update_expectations
    from benchsuite.gate.scores import RECIPE, check_scores, measured, read_scores
    from benchsuite.setup import REFERENCES

    if sum(map(bool, (update, store, against))) > 1:
        raise UsageError("--update, --store and --against exclude each other.")
    if as_json and (update or store):
        raise UsageError(f"--json goes with a comparison; {'--update' if update else '--store'} makes none.")
    if recipe and not (store or against):
        raise UsageError("--recipe goes with --store or --against.")
    load_plugins(plugin)
    chosen = methods_asked_for(names) if names else gated()
    if (store or against) and {*chosen} <= {*REFERENCES.values()}:
        raise UsageError(f"{', '.join(chosen)}: scores are compared with the reference's. Name another method, too.")
    if update and (own := [name for name in chosen if name not in gated()]):
        raise UsageError(f"--update is for methods of this package, and {own[0]} is none: --store keeps its scores.")
    if store:
        require_writable(store.absolute().parent, "--store")
        scores = measured(chosen, recipe or RECIPE, show_progress).model_dump()
        write_named(store, "--store", f"{json_lines(scores)}\n".encode())
        say(f"scores of {', '.join(chosen)}: {store}")
        return
    if update:
        update_expectations(chosen, show_progress)
        say(f"expectations of {', '.join(chosen)}: {expectations_file()}")
        return
    if against:
        stored = read_scores(against)
        found = check_scores(stored, measured(chosen, recipe or stored.recipe, show_progress, stored))
    else:
        found = gate(chosen, show_progress)
    checks = []
    for check in found:
        checks.append(check)
        if against or check.kind != "unchanged":
            say(check.line)
    kinds = Counter(check.kind for check in checks)
    say(f"{len(checks)} checks: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}.")
    passed = not any(check.kind in BAD for check in checks)
    if as_json:
        say_json({"passed": passed, "checks": [vars(check) for check in checks]})
    if not passed:
        raise typer.Exit(1)


def show_progress(line: str) -> None:
    """On stderr, so that the output can be piped."""
    say(f"  {line}", error=True)
