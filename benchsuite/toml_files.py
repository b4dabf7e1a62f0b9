"""Reading a TOML file into a checked model, with errors that name file and key."""

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from benchsuite.errors import UsageError, unknown

M = TypeVar("M", bound=BaseModel)


def read_toml(path: Path, model: type[M]) -> M:
    """The file as a `model`."""
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file.") from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}.") from error
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise _explained(path, model, error) from error


def _explained(path: Path, model: type[BaseModel], error: ValidationError) -> UsageError:
    problems = error.errors()
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    *parents, key = [str(part) for part in problem["loc"]] or ["file"]
    if problem["type"] == "extra_forbidden":
        return unknown(
            "key", key, _keys_at(model, parents), where=f"{path}: {'.'.join(parents) + ': ' if parents else ''}"
        )
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return UsageError(f"{path}: {'.'.join([*parents, key])}: {problem['msg']}.{more}")


def _keys_at(model: type[BaseModel], parents: list[str]) -> list[str]:
    """The keys that a nested part allows, found by walking the schema along the names that are fields."""
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
