"""Write docs/recipe-keys.md: every key of a recipe with its values, default and meaning, from the recipes' schema.

python docs/make_recipe_keys.py
"""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchsuite import setup, tower_settings
from benchsuite.planning import recipe
from benchsuite.planning.recipe import Recipe

PAGE = Path(__file__).parent / "recipe-keys.md"
HEAD = """# Keys of a recipe

Made by `python docs/make_recipe_keys.py`. NAME stands for any name. A key
without a default must be given, unless the table that it is in is optional and absent. A misspelt key is an error that
names its line.

| key | values | default | what |
|---|---|---|---|
"""
NAME = "NAME"
"""Stands for a name that the recipe chooses."""
WORDS = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false", "null": "none"}
BOUNDS = {"exclusiveMinimum": ">", "minimum": ">=", "maximum": "<=", "exclusiveMaximum": "<"}


def recipe_keys() -> list[dict[str, Any]]:
    """One item for each key, in the order of the schema."""
    schema = Recipe.model_json_schema()
    parts = {name: _with_docs(name, part) for name, part in schema["$defs"].items()}
    return list(_keys("", _with_docs("Recipe", schema), parts, {}))


def _with_docs(name: str, part: dict[str, Any]) -> dict[str, Any]:
    """A part of the schema with the docstrings of its keys. Pydantic can read them too, at each import of a schema."""
    docs, base = _docstrings(), "Settings" if name == "Recipe" else "Tower"
    fields = {
        key: {
            **field,
            "description": docs.get((name, key)) or docs.get((base, key), ""),
        }
        for key, field in part["properties"].items()
    }
    return {**part, "properties": fields}


@cache
def _docstrings() -> dict[tuple[str, str], str]:
    """By class and attribute."""
    found = {}
    trees = [ast.parse(inspect.getsource(module)) for module in (setup, tower_settings, recipe)]
    for node in (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)):
        for item, after in pairwise(node.body):
            match item, after:
                case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(value=ast.Constant(value=str() as text)):
                    found[node.name, key] = text
    return found


def _keys(
    prefix: str, part: Mapping[str, Any], parts: Mapping[str, Any], seen: dict[str, str]
) -> Iterator[dict[str, Any]]:
    """The keys of a part and, after each, those of the parts in it; a part that was listed before is named only."""
    for key, field in part["properties"].items():
        name = prefix + key
        inner, place = _inner(field, name)
        known = seen.get(inner)
        values = f"as in `{known}`" if known else "table" if inner else _values(field)
        yield {
            "name": place,
            "values": values,
            "default": _default(key, field, part, bool(inner)),
            "doc": _text(field) or (_text(parts[inner]) if inner else ""),
        }
        if inner and not known:
            seen[inner] = place
            yield from _keys(f"{place}.", parts[inner], parts, seen)


def _inner(field: Mapping[str, Any], name: str) -> tuple[str, str]:
    """The part that a key holds, if it holds one, and where the part's keys are."""
    for one in (field, *field.get("anyOf", ())):
        by_name = one.get("additionalProperties")
        if isinstance(by_name, Mapping) and "$ref" in by_name:
            return by_name["$ref"].rpartition("/")[2], f"{name}.{NAME}"
        if "$ref" in one:
            return one["$ref"].rpartition("/")[2], name
    return "", name


def _values(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_values(one) for one in field["anyOf"] if one.get("type") != "null")
    if "const" in field or "enum" in field:
        return ", ".join(json.dumps(value) for value in field.get("enum", [field.get("const")]))
    match field.get("type"):
        case "array":
            each = field.get("prefixItems") or [field.get("items", {})]
            count = f"{len(each)} x " if "prefixItems" in field else ""
            return f"list of {count}{_values(each[0])}"
        case "object":
            more = field.get("additionalProperties")
            return f"{_values(more)} by name" if isinstance(more, Mapping) else "table"
        case kind:
            bounds = ", ".join(f"{sign} {field[bound]:g}" for bound, sign in BOUNDS.items() if bound in field)
            return " ".join(filter(None, (WORDS.get(str(kind), "any"), bounds)))


def _default(key: str, field: Mapping[str, Any], part: Mapping[str, Any], inner: bool) -> str:
    if key in part.get("required", ()):
        return ""
    default = field.get("default")
    if default is None:
        return "none"
    return "defaults of its keys" if inner and default else json.dumps(default)


def _text(schema: Mapping[str, Any]) -> str:
    return " ".join(str(schema.get("description", "")).split())


def page() -> str:
    """A line for each key."""
    rows = [(f"`{item['name']}`", item["values"], item["default"], item["doc"]) for item in recipe_keys()]
    return HEAD + "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
