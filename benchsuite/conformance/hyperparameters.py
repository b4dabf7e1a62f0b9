"""Misspelt, not-a-number and out-of-range hyper-parameters must be refused, by name, before anything runs."""

import math
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt

from benchsuite.conformance.subject import NotMetError, Subject
from benchsuite.errors import UsageError


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
