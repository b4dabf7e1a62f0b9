"""Methods on some data as a table of one's own: what `compare` asks, and what `new-table` writes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchsuite.errors import UsageError
from benchsuite.planning.columns import column_of
from benchsuite.planning.recipe import Recipe, read_recipe, recipe_names
from benchsuite.registry import datasets, methods, tasks
from benchsuite.setup import REFERENCES

DATA = "emoji-features"
"""Real data that come with the package."""
NAMED = 4
"""Of more methods a comparison's name has the first ones, and how many more there are."""
LEAST, MOST = 2, 98
"""Percent. Nearer to chance or to the ceiling than this, a measure decides nothing."""


def recipe_for(data: str, names: Iterable[str], pretrained: bool = False) -> str:
    """The recipe that compares methods on a dataset: one with searches if there is any, of several the shortest one.

    Of recipes whose towers are pretrained or not, first such as are asked for. One that judges by graded
    relevancy is for the tables that do: it is last.
    """
    serves = frozenset.intersection(*map(_serves, names))
    every = {name: read_recipe(name) for name in recipe_names()}
    on_data = {name: recipe for name, recipe in every.items() if recipe.data.name == data}
    if not on_data:
        known = ", ".join(sorted({recipe.data.name for recipe in every.values()}))
        what = "no recipe trains on it" if data in datasets else "there is no such dataset"
        raise UsageError(f"--data {data}: {what}; recipes train on {known}. --recipe FILE takes one of your own.")
    setups = {name: recipe.setup() for name, recipe in on_data.items()}
    fitting = {name: recipe for name, recipe in on_data.items() if setups[name].towers in serves}
    if not fitting:
        raise UsageError(f"--data {data}: none of its recipes, {', '.join(on_data)}, trains {', '.join(names)}.")

    def place(name: str) -> tuple[bool, bool, bool, int, str]:
        setup, recipe = setups[name], fitting[name]
        has_model = any(tower and tower.model for tower in (setup.image, setup.text))
        judged = {protocol.task for protocol in recipe.tuning.protocols.values()} if recipe.tuning else set()
        size = recipe.training.steps * recipe.training.batch
        return has_model != pretrained, recipe.tuning is None, "multi-instance-retrieval" in judged, size, name

    return min(fitting, key=place)


def reference_for(name: str) -> str:
    """What a method that is alone is compared with: the reference of pairs, if it serves them, else of one tower."""
    serves = _serves(name)
    return next(reference for towers, reference in REFERENCES.items() if towers in serves)


def _serves(method: str) -> frozenset[str]:
    from benchsuite.methods import described_method  # with torch

    return described_method(method).serves


def name_of(names: Sequence[str], data: str, backbone: str | None = None) -> str:
    """`infonce-vs-mine/emoji-features`: methods stand where a table has its paper, so each comparison is a family.

    A backbone that is not the recipe's first is named behind the data.
    """
    more = [f"{len(names) - NAMED}-more"] if len(names) > NAMED else []
    tower = re.sub(r"[^a-z0-9]+", "-", f"-{backbone}".lower()).rstrip("-") if backbone else ""
    return f"{'-vs-'.join([*names[:NAMED], *more])}/{data}{tower}"


def comparison(
    names: Sequence[str], data: str, recipe_name: str, recipe: Recipe, backbone: str | None = None
) -> dict[str, Any]:
    """The table of that name, whose scale is called as the data.

    Its columns are the recipe's primary measures; that of the task by which hyper-parameters are chosen is the first.
    Further evaluations on data of their own follow, each with the measure that its task is known by.
    """
    if not recipe.primary:
        raise UsageError(f"recipe {recipe_name} names no primary measure, so there is nothing to compare by.")
    task = next(iter(recipe.tuning.protocols.values())).task if recipe.tuning else ""
    protocols = recipe.all_protocols
    ordered = sorted(recipe.primary, key=lambda protocol: protocols[protocol].task != task)
    measures = [column_of(f"{protocol}.{recipe.primary[protocol].metric}", recipe) for protocol in ordered]
    further = {name: each.task for name, each in protocols.items() if each.data and name not in recipe.primary}
    known = {name: tasks.card(task).about.get("headline", "") for name, task in further.items() if task in tasks}
    measures += [column_of(f"{name}.{metric}", recipe) for name, metric in known.items() if isinstance(metric, str)]
    columns = sorted(measures, key=lambda column: column.get("better") == "neither")
    content = table_of(name_of(names, data, backbone), {data: recipe_name}, columns, names, recipe, backbone)
    between = {"column": columns[0]["key"], "at_least": LEAST, "at_most": MOST}
    premise = {"statement": f"it lies between {LEAST} and {MOST}, so above chance and below the ceiling", **between}
    premises = {"premises": [premise]} if columns[0].get("unit", "percent") == "percent" else {}
    towers = f", {backbone}" if backbone else ""
    title = f"{', '.join(methods.card(name).title for name in names)} on {data}{towers}"
    return {**content, "title": title, **premises}


def table_of(
    name: str,
    scales: Mapping[str, str],
    columns: Sequence[Mapping[str, str]],
    names: Sequence[str],
    recipe: Recipe,
    backbone: str | None = None,
) -> dict[str, Any]:
    """What a table's file says: a row a method, at its defaults, on a backbone, else the recipe's first.

    That each later method beats the first on the first column that has a better end is a headline claim.
    """
    paper, _, table = name.partition("/")
    backbone = backbone or next(iter(recipe.backbones))
    first, *others = (methods.card(method).title for method in names)
    asked = next((column["key"] for column in columns if column.get("better") != "neither"), "")
    rows = [{"label": methods.card(method).title, "backbone": backbone, "method": method} for method in names]
    claims = [
        {
            "statement": f"{title} is better than {first}",
            "locator": "",
            "row": title,
            "reference": first,
            "columns": [asked],
            "headline": asked,
        }
        for title in others
    ]
    return {
        "file_format": 1,
        "paper": paper,
        "table": table,
        "locator": "",
        "title": name,
        "recipes": dict(scales),
        "columns": list(map(dict, columns)),
        "rows": [*rows[:1], *({**row, "role": "proposed"} for row in rows[1:])],
        **({"claims": claims} if asked and others else {}),
    }
