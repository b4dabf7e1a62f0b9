"""`benchsuite check-method`: does a method keep the contract?"""

from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.options import AsJson, methods_asked_for
from benchsuite.cli.shared.terminal import say, say_json

if TYPE_CHECKING:
    from benchsuite.conformance import MethodReport, Report

MARKS = {"passed": "ok", "failed": "FAILED", "excused": "excused"}


def check_method(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(help="Registered methods, or Python files that register methods.", metavar="METHOD|FILE..."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every registered method.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check that methods keep the contract.

    For example: losses are finite, gradients are equal on two processes, training resumes from a checkpoint.
    """
    from benchsuite.conformance import check_methods

    report = check_methods(methods_asked_for(subjects or [], everything), with_cost=True)
    say_json(report.as_json()) if as_json else say(*lines(report))
    if not report.passed:
        raise typer.Exit(1)


def lines(report: "Report") -> list[str]:
    """A table of methods and checks, then the reasons, then what each check requires."""
    from benchsuite.conformance import CHECKS

    table = [["", *CHECKS, "time", "memory", "pairs"]]
    table += [[m.name, *(MARKS[o.status] for o in m.outcomes), *costs(m)] for m in report.methods]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    for method in report.methods:
        for reason, checks in reasons(method).items():
            shown += ["", f"{method.name}, {', '.join(checks)}: {reason}"]
        if "finite" in method.failed and len(method.failed) > 1:
            shown += ["", "Mend finite first: it may be why other checks fail."]
        shown += [line for warning in method.warnings for line in ("", f"{method.name}, warning: {warning}")]
    shown += ["", *(f"{name:<{max(map(len, CHECKS))}}  {check.description}" for name, check in CHECKS.items())]
    return [*shown, "", *footer(report)]


def reasons(method: "MethodReport") -> dict[str, list[str]]:
    """Reason -> the checks that give it, as shown in front of it; failures first."""
    grouped: dict[str, list[str]] = {}
    for check, reason in method.failed.items():
        grouped.setdefault(reason, []).append(check)
    for check, reason in method.excused.items():
        grouped.setdefault(f"excused, {reason}", []).append(check)
    return grouped


def costs(method: "MethodReport") -> list[str]:
    """The columns that are shown but not checked."""
    if method.cost is None:
        return ["", "", ""]
    state = method.cost.state_bytes
    memory = f"{state / 1000:.1f} kB" if state >= 1000 else f"{state} B"
    return [f"x{method.cost.time_ratio:.1f}", memory, f"{method.cost.pair_bytes:.0f} B"]


def footer(report: "Report") -> list[str]:
    """What the last columns mean, and the verdict."""
    samples = next((m.cost.samples for m in report.methods if m.cost), None)
    legend = [
        f"time: loss and gradient relative to infonce; memory: the state for {samples} training samples; "
        "pairs: bytes that a loss keeps for each pair of rows of a large batch, 0 B if it computes them in blocks "
        "(similarities, docs/add-a-method.md). None is checked."
    ]
    failed = [m.name for m in report.methods if not m.passed]
    count = f"{len(report.methods)} method" + "s" * (len(report.methods) != 1)
    verdict = f"{len(failed)} of {count} failed: {', '.join(failed)}." if failed else f"{count}: all checks passed."
    return [*(legend if samples else []), verdict]
