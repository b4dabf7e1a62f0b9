"""`benchsuite regress`: has a change of the code changed what methods do?"""

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.options import REPORTS, Plugins, load_plugins, parse_names
from benchsuite.errors import UsageError, unknown

if TYPE_CHECKING:
    from benchsuite.analysis.regression import Expectations


def regress(
    names: Annotated[
        list[str] | None, typer.Argument(help="Methods; all built-in ones by default.", metavar="METHOD...")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Store what methods do now as what is expected, and print what changed.")
    ] = False,
    report: Annotated[Path, typer.Option(help="Folder for regress.md and regress.xml.", metavar="FOLDER")] = REPORTS,
    plugin: Plugins = None,
) -> None:
    """Run methods for seconds beside InfoNCE and compare with the stored expectations.

    Exit code 1 if a method crashed, measured nothing, or does worse than the noise of seeds explains.
    """
    from benchsuite.analysis.regression import BAD
    from benchsuite.experiments.regress import gate, gated, stored_file
    from benchsuite.files import require_writable
    from benchsuite.registry import methods
    from benchsuite.report.gate import junit, summary

    added = load_plugins(plugin)
    chosen = parse_names(names) or [*gated(), *added]
    for name in chosen:
        if name not in methods:
            raise unknown("method", name, methods)
    file = stored_file()
    before = read_expectations(file) if file.exists() else None
    if update:
        after = updated(chosen, before)
        file.write_text(as_json(after), "utf-8")
        print("\n".join(changes(before, after)) or "nothing changed")
        print(f"expectations: {file}")
        return
    if before is None:
        raise UsageError(f"{file} does not exist: run `benchsuite regress --update` once.")
    require_writable(report, "--report")
    checks = []
    for check in gate(before, chosen, told):
        checks.append(check)
        if check.kind != "unchanged":
            print(check.line, flush=True)
    (report / "regress.md").write_text(summary(checks), "utf-8")
    (report / "regress.xml").write_text(junit(checks), "utf-8")
    print(summary(checks).splitlines()[2])
    print(f"summary: {(report / 'regress.md').resolve()}")
    if any(check.kind in BAD for check in checks):
        raise typer.Exit(1)


def read_expectations(file: Path) -> "Expectations":
    """The stored expectations."""
    from pydantic import ValidationError

    from benchsuite.analysis.regression import Expectations

    try:
        return Expectations.model_validate_json(file.read_text("utf-8"))
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"{file}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}.") from error


def updated(names: list[str], before: "Expectations | None") -> "Expectations":
    """New expectations of these methods, the others as they were."""
    from benchsuite.experiments.regress import expect

    now = expect(names, told)
    kept = before.methods if before else {}
    if before and before.setups != now.setups and set(kept) - set(names):
        raise UsageError("the setups have changed: update all methods, without naming any.")
    return now.model_copy(update={"methods": dict(sorted({**kept, **now.methods}.items()))})


def as_json(expectations: "Expectations") -> str:
    """The file's text: a line for each list of values, so that a review shows what moved."""
    text = json.dumps(expectations.model_dump(), indent=1, sort_keys=True)
    return re.sub(r"\[\s+([^][]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def changes(before: "Expectations | None", after: "Expectations") -> list[str]:
    """What an update changed, for whoever reviews it."""
    from benchsuite.analysis.regression import Found, check_method

    lines = []
    old = before.methods if before else {}
    for name, now in after.methods.items():
        if name not in old:
            lines.append(f"new: {name}")
            continue
        seen = Found(now.curves, now.still, {m: v[: after.seeds] for m, v in now.differences.items()}, now.cost)
        lines += [c.line for c in check_method(name, old[name], seen, after.seeds) if c.kind != "unchanged"]
    for towers, scores in after.collapsed.items():
        was = before.collapsed.get(towers) if before else None
        lines += [f"collapsed towers ({towers}): {was} before, {scores} now"] if was != scores else []
    return lines


def told(line: str) -> None:
    """Progress, out of the way of what is piped."""
    print(f"  {line}", file=sys.stderr, flush=True)
