"""`benchsuite regress`: did a code change alter what methods compute?"""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.options import AsJson, Plugins, load_plugins, parse_names
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.errors import UnknownError, UsageError

if TYPE_CHECKING:
    from benchsuite.gate.decision import Expectations


def regress(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Methods (default: all built-in ones).", metavar="METHOD..."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Store the present values as expectations.")] = False,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods with stored expectations.

    Compared are values on fixed embeddings, first steps, and metrics of short runs relative to a reference method.
    Exit code 1 if a method crashed, measured nothing, or differs by more than the bands allow. Values that changed on
    purpose need a raised version of the method; then --update stores them.
    """
    from benchsuite.gate.decision import BAD
    from benchsuite.gate.regress import (
        expectations_file,
        gate,
        gated,
        read_expectations,
        write_expectations,
    )
    from benchsuite.registry import methods

    added = load_plugins(plugin)
    chosen = parse_names(names) or [*gated(), *added]
    for name in chosen:
        if name not in methods:
            raise UnknownError("method", name, methods)
    before = read_expectations()
    if update:
        if as_json:
            raise UsageError("--json goes with a comparison; --update makes none.")
        write_expectations(updated(chosen, before))
        say(f"expectations of {', '.join(chosen)}: {expectations_file()}")
        return
    if before is None:
        raise UsageError(f"{expectations_file()} does not exist: run `benchsuite regress --update` once.")
    checks = []
    for check in gate(before, chosen, show_progress):
        checks.append(check)
        if check.kind != "unchanged":
            say(check.line)
    kinds = Counter(check.kind for check in checks)
    say(f"{len(checks)} checks: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}.")
    passed = not any(check.kind in BAD for check in checks)
    if as_json:
        say_json({"passed": passed, "checks": [vars(check) for check in checks]})
    if not passed:
        raise typer.Exit(1)


def updated(names: list[str], before: "Expectations | None") -> "Expectations":
    """New expectations of these methods; the others stay, except methods that are gone."""
    from benchsuite.gate.decision import unraised
    from benchsuite.gate.regress import expect
    from benchsuite.registry import methods

    now = expect(names, show_progress)
    others = {name: expected for name, expected in before.methods.items() if name in methods} if before else {}
    if before and before.setups != now.setups and set(others) - set(names):
        raise UsageError("the setups have changed: update all methods, without naming any.")
    after = now.model_copy(update={"methods": dict(sorted({**others, **now.methods}.items()))})
    if before and (names_of := unraised(before, after)):
        raise UsageError(
            f"values changed under the same version of {', '.join(names_of)}. Nothing was stored: raise the version of "
            "each (register_method(..., version=2)), or undo what changed them."
        )
    return after


def show_progress(line: str) -> None:
    """On stderr, so that the output can be piped."""
    say(f"  {line}", error=True)
