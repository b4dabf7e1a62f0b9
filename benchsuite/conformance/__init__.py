"""Conformance checks: what every method must satisfy, tested on small batches.

`check_methods(names)` returns a `Report`; nothing is printed. A method that cannot pass a check by its nature says so
in its class: `excuses = {"permutation": "why"}`.
"""

from collections.abc import Iterable

from benchsuite.conformance.checks import CHECKS
from benchsuite.conformance.cost import measure
from benchsuite.conformance.decay import decaying_numbers
from benchsuite.conformance.processes import on_two_processes
from benchsuite.conformance.report import Cost, MethodReport, Outcome, Report
from benchsuite.conformance.subject import Subject

__all__ = ["CHECKS", "Cost", "MethodReport", "Outcome", "Report", "check_methods"]


def check_methods(names: Iterable[str], with_cost: bool = False) -> Report:
    """Every check on every one of the registered methods `names`, in their order."""
    subjects = [Subject(name) for name in names]
    together = on_two_processes([s.name for s in subjects if "processes" not in s.excuses])
    reports = []
    for subject in subjects:
        outcomes = tuple(check(subject, together.get(subject.name)) for check in CHECKS.values())
        works = all(outcome.status != "failed" for outcome in outcomes)
        cost = measure(subject) if works and with_cost else None
        warnings = decaying_numbers(subject) if works else ()
        reports.append(MethodReport(subject.name, subject.title, outcomes, cost, warnings))
    return Report(tuple(reports))
