"""`benchsuite list`: what is registered, without importing it."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from benchsuite.cards import REQUIRED
from benchsuite.cli.shared.options import AsJson, Plugins, Tables, load_own
from benchsuite.cli.shared.terminal import say, say_json, say_text
from benchsuite.registry import datasets, embeddings, methods, tasks

if TYPE_CHECKING:
    from benchsuite.planning.recipe import Recipe


What = Literal["methods", "tasks", "datasets", "embeddings", "tables", "recipes"]


def list_(
    what: Annotated[What, typer.Argument(help="What to list.")],
    as_json: AsJson = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the whole description and all fields.")] = False,
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """List methods, tasks, datasets, embeddings, tables, recipes."""
    load_own(tables, plugin)
    items = _items(what)
    if as_json:
        say_json(items)
        return
    width = max((len(item["name"]) for item in items), default=0)
    for item in items:
        say(f"{item['name']:<{width}}  {item['summary']}")
        if verbose:
            _print_details(item)


def _items(what: str) -> list[dict[str, Any]]:
    registries = {"methods": methods, "tasks": tasks, "datasets": datasets, "embeddings": embeddings}
    if what in registries:
        return [card.as_json() for card in registries[what].cards().values()]
    from benchsuite.papers import table_names
    from benchsuite.planning.recipe import read_recipe, recipe_names

    if what == "recipes":
        return [_recipe(name) for name in recipe_names()]
    read = cache(read_recipe)  # tables share recipes
    return [_table(name, read) for name in table_names()]


def _print_details(item: dict[str, Any]) -> None:
    for line in str(item.get("doc", "")).splitlines()[1:]:
        say(f"    {line}".rstrip())
    for key, value in item.items():
        if key not in ("name", "summary", "doc", "fields", "title") and value:
            shown = [act["statement"] for act in value] if key == "acts" else value
            say(f"    {key}: {', '.join(map(str, shown)) if isinstance(shown, list | tuple) else shown}")
    for name, field in item.get("fields", {}).items():
        default = "must be given" if field["default"] == REQUIRED else f"= {field['default']!r}"
        say_text(f"    {name}: {field['type']} {default}  {field['doc']}".rstrip())
    say("")


def _table(name: str, read: "Callable[[str], Recipe]") -> dict[str, Any]:
    from benchsuite.papers import read_table
    from benchsuite.papers.claim import claims_of
    from benchsuite.planning.columns import measured_columns

    table = read_table(name)
    runnable = sum(row.method is not None for row in table.rows)
    cells = sum(len(row.published) for row in table.rows)
    scales, scales_run = ", ".join(table.recipes), {}
    for scale, used in table.recipes.items():
        recipe = read(used)
        rows = [row for row in table.rows if row.method and not recipe.lacks(row.backbone, row.variant)]
        columns = measured_columns(table, recipe)
        about = {"rows": len(rows), "columns": len(columns.measures), "columns_missing": columns.missing}
        scales_run[scale] = {"recipe": used, **about}
    return {
        "name": name,
        "summary": f"{table.title} ({runnable} of {len(table.rows)} rows can be run, {cells} numbers; {scales})",
        "title": table.title,
        "locator": table.locator,
        "scales": scales_run,
        "rows": [row.name for row in table.rows],
        "rows_runnable": runnable,
        "rows_quoted": sum(bool(row.quoted) for row in table.rows),
        "columns": [column.name for column in table.columns],
        "published": cells,
        "claims": len(claims_of(table)),
        "plots": [plot.title for plot in table.plots],
    }


def _recipe(name: str) -> dict[str, Any]:
    from benchsuite.folders import recipe_files
    from benchsuite.planning.recipe import read_recipe

    recipe = read_recipe(name)
    backbones = [f"{key} ({backbone.description})" for key, backbone in recipe.backbones.items()]
    summary = f"{recipe.title} ({recipe.training.steps} steps of {recipe.training.batch})"
    details = {
        "file": str(recipe_files()[name]),
        "description": recipe.description,
        "seeds": recipe.seeds,
        "backbones": backbones,
        "assumptions": recipe.assumptions,
    }
    return {"name": name, "summary": summary, **details}
