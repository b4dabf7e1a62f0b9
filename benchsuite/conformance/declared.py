"""What a method declares must be true of its loss: what it reads, shows, contains and accepts."""

import math
import types
from collections.abc import Iterator, Set
from itertools import product
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import torch
from annotated_types import Ge, Gt, Le, Lt
from pydantic import ValidationError
from torch import Tensor

from benchsuite.conformance.subject import NotMetError, Subject, differentiable, modes, of_tower, parts, tensors, unlike
from benchsuite.errors import UnknownError, UsageError, did_you_mean
from benchsuite.fields import first_reason, temperatures
from benchsuite.methods.base import Clock, Method, averaged_heads
from benchsuite.methods.batch import PARTS, PairBatch
from benchsuite.papers.questions import acts_of
from benchsuite.training.teachers import momentum

CLOSE = 1e-9
"""In double precision, of the largest entry."""


def check_acts(subject: Subject) -> None:
    """Each of `acts` is a premise on gauges that the loss has for all towers, and is off by fields of the method."""
    try:
        acts = acts_of(subject.cls.card.about)
    except ValidationError as error:
        raise NotMetError(f"acts: {first_reason(error)}") from error
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


class Recorder(PairBatch):
    """A batch that remembers which of its parts were read and which were only asked after."""

    def __init__(self, read: set[str], request: set[str], **given: Tensor) -> None:
        super().__init__(**given)
        self.read = read
        self.request = request

    def has(self, name: str) -> bool:
        self.request.add(name)
        return super().has(name)

    def normalized(self) -> PairBatch:
        return Recorder(self.read, self.request, **super().normalized()._given)

    def _get(self, name: str) -> Tensor:
        self.read.add(name)
        return super()._get(name)


def check_needs(subject: Subject) -> None:
    """Compare the declaration with what is read at the start, in the middle and at the end of a training."""
    method = subject.template
    if invalid := method.needs - set(PARTS):
        known = f"there are {', '.join(PARTS)}"
        near = did_you_mean(min(invalid), PARTS)
        raise NotMetError(f"needs {', '.join(sorted(invalid))}: no batch carries that ({known}).{near}")
    read: set[str] = set()
    for mode in modes(method):
        given = parts(method, mode)
        seen, request = reads(subject, given)
        if undeclared := seen - set(given):
            raise NotMetError(f"{mode}: reads {listed(undeclared)}, which it does not declare in needs.")
        if request - set(given):
            richer, _ = reads(subject, of_tower(mode))
            if undeclared := richer - set(given):
                raise NotMetError(
                    f"{mode}: reads {listed(undeclared)} if it is there, and does not declare it in needs."
                )
        read |= seen
    if unread := method.needs - read:
        raise NotMetError(f"declares {listed(unread)} in needs and never reads it.")
    if unused := set(getattr(method, "head", ())) - used_heads(subject):
        raise NotMetError(f"declares {listed(unused)} in heads and never uses it.")
    if method.copies_towers or averaged_heads(method):
        for step in range(5):
            momentum(method, Clock(step, 4))


def used_heads(subject: Subject) -> set[str]:
    """Heads that are called in the middle of a training, in any mode."""
    used: set[str] = set()
    method: Any = subject.make()
    for name, head in getattr(method, "head", {}).items():
        head.register_forward_hook(lambda *_, name=name: used.add(name))
    for mode in modes(method):
        method(PairBatch(**tensors(parts(method, mode), 6, seed=1)), Clock(2, 4))
    return used


def reads(subject: Subject, given: list[str]) -> tuple[set[str], set[str]]:
    """Parts that were read, and parts that were asked after, when the batch carries `given`."""
    read: set[str] = set()
    request: set[str] = set()
    method: Method = subject.make()
    for step in range(5):
        torch.manual_seed(step)
        batch = Recorder(read, request, **tensors(given, 6, seed=step))
        try:
            method(batch, Clock(step, 4))
        except ValueError:
            if read <= set(given):
                raise
            return read, request
    return read, request


def listed(names: Set[str]) -> str:
    """Names in a sentence."""
    return ", ".join(sorted(names))


def check_hyperparameters(subject: Subject) -> None:
    """Try values that cannot be right."""
    name = next(iter(subject.fields), "tau")
    require_refused(subject, f"{name}_x", 1.0, "unknown")
    for field, annotation in subject.fields.items():
        for value in impossible(annotation):
            require_refused(subject, field, value, "impossible")


def require_refused(subject: Subject, field: str, value: Any, how: str) -> None:
    """A UsageError that names the field is a refusal; anything else is not."""
    try:
        subject.make(**{field: value})
    except UsageError as error:
        if field not in str(error):
            raise NotMetError(f'{field} = {value!r} is refused without naming it: "{error}"') from error
    except Exception as error:
        raise NotMetError(f"{field} = {value!r} ends in {type(error).__name__}: {error}") from error
    else:
        raise NotMetError(
            f"the {how} {field} = {value!r} is accepted; benchsuite.fields has types with ranges, "
            "such as Real for a finite number."
        )


def impossible(annotation: Any) -> Iterator[object]:
    """Values that a field of this type must not take."""
    kinds, metadata = unwrapped(annotation)
    if get_origin(annotation) is Literal or any(get_origin(kind) is Literal for kind in kinds):
        yield "no-such-choice"
    if float in kinds:
        yield from (math.nan, math.inf)
    if bool in kinds and str not in kinds:
        yield "perhaps"
    if float in kinds or int in kinds:
        yield "many"
    for bound in metadata:
        match bound:
            case Gt(gt=low):
                yield low
            case Ge(ge=low):
                yield low - 1  # type: ignore[operator]
            case Lt(lt=high):
                yield high
            case Le(le=high):
                yield high + 1  # type: ignore[operator]


def unwrapped(annotation: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The plain types an annotation allows, and the metadata around them."""
    if get_origin(annotation) is Annotated:
        inner, *own = get_args(annotation)
        kinds, metadata = unwrapped(inner)
        return kinds, (*metadata, *own)
    if get_origin(annotation) in (Union, types.UnionType):
        split = [unwrapped(part) for part in get_args(annotation)]
        return tuple(k for kinds, _ in split for k in kinds), tuple(m for _, metadata in split for m in metadata)
    return (annotation,), ()
