"""What a decorator says of a method must be true of its loss: what shows its mechanism, and what it contains."""

from itertools import product

import torch
from pydantic import ValidationError
from torch import Tensor

from benchsuite.conformance.subject import NotMetError, Subject, differentiable, modes, parts, tensors, unlike
from benchsuite.errors import UnknownError
from benchsuite.fields import temperatures
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.papers.questions import acts_of

CLOSE = 1e-9
"""In double precision, of the largest entry."""


def check_acts(subject: Subject) -> None:
    """Each of `acts` is a premise on gauges that the loss has for all towers, and is off by fields of the method."""
    try:
        acts = acts_of(subject.cls.card.about)
    except ValidationError as error:
        raise NotMetError(f"acts: {error.errors()[0]['msg']}") from error
    for act in acts:
        for mode in modes(subject.template):
            torch.manual_seed(0)
            rows = tensors(parts(subject.template, mode), 6, seed=1)
            gauges = subject.make()(PairBatch(**rows), Clock(2, 4)).gauges
            for gauge in act.premise.gauges:
                if gauge not in gauges:
                    raise NotMetError(str(UnknownError("gauge", gauge, gauges, f"acts, {mode}: ")))
        for field in {name for off in act.off for name in off} - subject.fields.keys():
            raise NotMetError(str(UnknownError("hyper-parameter", field, subject.fields, "acts, off: ")))


def check_contains(subject: Subject) -> None:
    """At the values that `contains` gives, loss and gradients are those of the method that it names."""
    for name, when in subject.cls.card.about.get("contains", {}).items():
        contained = Subject(name)
        common = [mode for mode in modes(subject.template) if mode in modes(contained.template)]
        if not common:
            raise NotMetError(f"contains {name}, but no towers are served by both.")
        for changed, mode in product((1.0, 1.7), common):
            inner = contained.make(**{n: changed * getattr(contained.cls, n) for n in temperatures(contained.cls)})
            given = {field: getattr(inner, field) for field in contained.fields}
            same = {field: value for field, value in given.items() if field in subject.fields}
            values = {n: given.get(value, value) if isinstance(value, str) else value for n, value in when.items()}
            outer = subject.make(**{**same, **values})
            for step in range(5):
                _require_equal(outer, inner, mode, Clock(step, 4), f"contains {name}, {mode}, step {step} of 4: ")


def _require_equal(outer: Method, inner: Method, mode: str, clock: Clock, where: str) -> None:
    (loss, gradients), (expected, contained) = (_outcome(method, mode, clock) for method in (outer, inner))
    if unlike(loss, expected) > CLOSE:
        raise NotMetError(f"{where}the loss is {loss.item():.6g}, that of the other {expected.item():.6g}.")
    for part, ours in {**contained, **gradients}.items():
        zeros = torch.zeros_like(ours)
        if unlike(gradients.get(part, zeros), contained.get(part, zeros), least=1e-3) > CLOSE:
            raise NotMetError(f"{where}the gradients of {part} differ.")


def _outcome(method: Method, mode: str, clock: Clock) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss of a step's batch, and its gradients."""
    leaves = differentiable(tensors(parts(method, mode), 6, seed=clock.step % 3))
    torch.manual_seed(clock.step)
    loss = method.double()(PairBatch(**leaves), clock).total
    loss.backward()
    return loss, {part: rows.grad for part, rows in leaves.items() if rows.grad is not None}
