"""Conformance checks: what every method must satisfy, tested on small batches.

`check_methods(names)` returns a `Report`; nothing is printed. A method that cannot pass a check by its nature says so
in its class: `excuses = {"permutation": "why"}`.
"""

from collections.abc import Iterable

from torch.nn.parameter import is_lazy

from benchsuite.conformance.checks import CHECKS
from benchsuite.conformance.cost import measure
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
        subject.together = together.get(subject.name)
        outcomes = tuple(check(subject) for check in CHECKS.values())
        works = all(outcome.status != "failed" for outcome in outcomes)
        cost = measure(subject) if works and with_cost else None
        warnings = decaying_numbers(subject) if works else ()
        reports.append(MethodReport(subject.name, subject.title, outcomes, cost, warnings))
    return Report(tuple(reports))


def decaying_numbers(subject: Subject) -> tuple[str, ...]:
    """A warning for each single number, such as a temperature, whose group states a weight decay.

    It fails nothing: a release may decay a temperature, and a method reproduce it.
    """
    method = subject.template
    names = {id(parameter): name for name, parameter in method.named_parameters()}
    return tuple(
        f"the single number {names.get(id(parameter), 'of a group')} decays towards 0, because its ParameterGroup "
        f"states weight_decay {group.weight_decay:g}; without that it would not decay."
        for group in method.parameter_groups()
        if group.weight_decay
        for parameter in group.parameters
        if not is_lazy(parameter) and parameter.dim() == 0
    )
