"""Groups of options: a dataclass as a command's parameter gives the command an option for each of its fields."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command, in which the fields of each parameter that is a dataclass follow the other options."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {name: each.annotation for name, each in own.items() if is_dataclass(each.annotation)}

    @wraps(command)
    def expanded(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    alone = [each for name, each in own.items() if name not in groups]
    of_groups = [
        part for group in groups.values() for part in inspect.signature(group, eval_str=True).parameters.values()
    ]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*alone, *of_groups)]
    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {part.name: part.annotation for part in parameters}
    return expanded
