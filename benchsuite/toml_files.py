"""Reading a TOML file into a checked model, with errors that name file and key; writing one."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchsuite.errors import UnknownError, UsageError
from benchsuite.fields import problem_in
from benchsuite.files import MEGABYTE, read_stored, reason_of

M = TypeVar("M", bound=BaseModel)
LARGEST = MEGABYTE
"""Bytes of a file that people write; the largest table has 12,390."""
DOTS = 200
"""In a line. The parser's time grows with the square of a dotted key's parts: minutes for a key of 128 kB."""


class MisplacedError(ValueError):
    """Raised by a model's validator about one of its parts. `place` leads to the part, to find its line."""

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message)
        self.place = place


def read_toml(path: Path, model: type[M]) -> M:
    """The file as a `model`."""
    try:
        text = read_stored(path, LARGEST).decode()
        for number, row in enumerate(text.split("\n"), start=1):
            if row.count(".") > DOTS:
                raise UsageError(f"{path}, line {number}: more than {DOTS} dots.")
        content = tomllib.loads(text)
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file.") from error
    except OSError as error:
        raise UsageError(f"{path}: {reason_of(error)}.") from error
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError
        raise UsageError(f"{path}: not valid TOML: {error}.") from error
    try:
        return model.model_validate(content)
    except ValidationError as error:
        line, problem = _explained(text, model, error)
        raise UsageError(f"{path}, line {line}: {problem}" if line else f"{path}: {problem}") from error


def as_toml(content: Mapping[str, Any]) -> str:
    """Values, then tables, then lists of tables, as people write them. Strings of JSON are strings of TOML."""
    parts = [[*_pairs({key: value for key, value in content.items() if not _is_table(value)})]]
    for key, value in content.items():
        if isinstance(value, Mapping):
            parts.append([f"[{key}]", *_pairs(value)])
        elif _is_table(value):
            parts += [[f"[[{key}]]", *_pairs(each)] for each in value]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(each, Mapping) for each in value))


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        quoted = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
        yield f"{quoted} = {json.dumps(value, ensure_ascii=False)}"


def _explained(text: str, model: type[BaseModel], error: ValidationError) -> tuple[int | None, str]:
    """Where the text departs from the model, if that is found, and how."""
    problems = error.errors()
    # a key that may not be, then a value that is wrong, then what is missing
    problem = min(problems, key=lambda p: (p["type"] != "extra_forbidden", p["type"] == "missing"))
    original = problem.get("ctx", {}).get("error")
    place = (*problem["loc"], *(original.place if isinstance(original, MisplacedError) else ()))
    if problem["type"] == "extra_forbidden":
        *parents, key = map(str, problem["loc"])
        where = f"{'.'.join(parents)}: " if parents else ""
        return line_of(text, place), str(UnknownError("key", key, _keys_at(model, parents), where))
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return line_of(text, place), f"{problem_in(problem)}.{more}"


def line_of(text: str, place: Sequence[str | int]) -> int | None:
    """The line of a nested key, from headers and `key =`; none if it is not found."""
    lines = text.splitlines()
    line_number, start, header = None, 0, ""
    for part in place:
        if isinstance(part, int):
            heads = [n for n, line in enumerate(lines) if line.strip() == f"[[{header}]]"]
            if part >= len(heads):
                return line_number
            line_number, start = heads[part] + 1, heads[part] + 1
            continue
        header = f"{header}.{part}" if header else part
        heads = [n for n, line in enumerate(lines) if n >= start and line.strip() == f"[{header}]"]
        end = next((n for n in range(start, len(lines)) if lines[n].startswith("[")), len(lines))
        keys = (n for n in range(start, end) if re.match(rf"\s*\"?{re.escape(part)}\"?\s*[.=]", lines[n]))
        if (at := next(iter([*heads[:1], *keys]), None)) is not None:
            line_number, start = at + 1, at + (at in heads)
    return line_number


def _keys_at(model: type[BaseModel], parents: list[str]) -> list[str]:
    for name in parents:
        field = model.model_fields.get(name)
        if field is None:
            continue
        inner = next((t for t in _types(field.annotation) if isinstance(t, type) and issubclass(t, BaseModel)), None)
        model = inner or model
    return list(model.model_fields)


def _types(annotation: object) -> list[object]:
    arguments = getattr(annotation, "__args__", ())
    return [annotation, *(t for a in arguments for t in _types(a))]
