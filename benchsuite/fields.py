"""Typed fields as keyword options of methods, tasks and datasets, with their checks."""

import inspect
import typing
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Gt, Le
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.types import AllowInfNan

from benchsuite.errors import UsageError, require_known

Finite = AllowInfNan(False)
Real = Annotated[float, Finite]
Positive = Annotated[float, Gt(0), Finite]
NonNegative = Annotated[float, Ge(0), Finite]
Share = Annotated[float, Ge(0), Le(1), Finite]
Count = Annotated[int, Gt(0)]
Temperature = Annotated[float, Gt(0), Finite, "temperature"]
"""A softmax temperature. The recipe's temperature factor multiplies it."""
TemperatureWidth = Annotated[float, Ge(0), Finite, "temperature"]
"""Width of a range of temperatures, 0 for no range. The temperature factor multiplies it too."""


class Options:
    """Base of classes whose annotated class attributes are keyword options, checked on construction."""

    def __init__(self, **options: Any) -> None:
        self.resolve(options)

    def resolve(self, values: Mapping[str, Any]) -> None:
        """Set every declared field from `values` or its default, after checking its type and range."""
        for name, value in resolve(type(self), values).items():
            setattr(self, name, value)

    def options(self) -> dict[str, Any]:
        """The resolved values by field name."""
        cls: type = type(self)
        return {name: getattr(self, name) for name in declared(cls)}


@cache
def declared(cls: type) -> Mapping[str, Any]:
    """Annotations by field name, for the fields of `cls` and its bases up to `Options`.

    Made once, as adapters are: a plan asks for the fields of a class in each row, replicate and trial.
    """
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if issubclass(base, Options) and base is not Options and "_owns_no_fields" not in base.__dict__:
            hints = typing.get_type_hints(base, include_extras=True)
            own = (n for n in inspect.get_annotations(base) if n[0] != "_")
            fields |= {n: hints[n] for n in own if ClassVar not in (hints[n], typing.get_origin(hints[n]))}
    return MappingProxyType(fields)


def resolve(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """All declared fields of `cls` with checked values. An error names a misspelt, missing or invalid field."""
    name = getattr(getattr(cls, "card", None), "name", cls.__name__)
    fields = _adapters(cls)
    for name_given in values:
        require_known("hyper-parameter" if _is_method(cls) else "option", name_given, fields, where=f"{name}: ")
    resolved = {}
    for field, adapter in fields.items():
        if field not in values and not hasattr(cls, field):
            raise UsageError(f'{name}: "{field}" must be given; it has no default.')
        value = values.get(field, getattr(cls, field, None))
        value = value.tolist() if hasattr(value, "tolist") else value  # arrays and tensors as plain numbers
        try:
            resolved[field] = adapter.validate_python(value)
        except ValidationError as error:
            raise UsageError(f"{name}: {field} = {value!r} is not possible: {first_reason(error)}.") from error
    return resolved


def temperatures(cls: type) -> list[str]:
    """The fields of `cls` that are temperatures."""
    return [n for n, a in declared(cls).items() if "temperature" in getattr(a, "__metadata__", ())]


@cache
def _adapters(cls: type) -> dict[str, TypeAdapter[Any]]:
    config = ConfigDict(arbitrary_types_allowed=True)
    return {field: TypeAdapter(annotation, config=config) for field, annotation in declared(cls).items()}


def first_problem(error: ValidationError) -> str:
    """Where a model's content is wrong, and how."""
    return problem_in(error.errors()[0])


def first_reason(error: ValidationError) -> str:
    """How alone, where the key is named already."""
    return _reason_in(error.errors()[0])


def problem_in(details: Mapping[str, Any]) -> str:
    """The key of a value that is not valid, and why."""
    key, reason = ".".join(map(str, details["loc"])), _reason_in(details)
    return f"{key}: {reason}" if key else reason


def _reason_in(details: Mapping[str, Any]) -> str:
    """What a validator said, without a full stop: pydantic puts the kind of error before it."""
    return str(details["msg"]).removeprefix("Value error, ").removesuffix(".")


def _is_method(cls: type) -> bool:
    return getattr(getattr(cls, "card", None), "kind", "") == "method"
