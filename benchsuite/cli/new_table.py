"""`benchsuite new-table`: a table's file, from methods and measures."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchsuite.cli.shared.options import Plugins, load_own
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import IN_A_PLUGIN, UnknownError, UsageError
from benchsuite.files import write_whole
from benchsuite.folders import PAPERS, RECIPES, table_files
from benchsuite.papers.schema import Table
from benchsuite.registry import methods, tasks

if TYPE_CHECKING:
    from benchsuite.planning.recipe import Recipe

DEFAULT_RECIPES = ["smoke=scenes-smoke", "small=scenes-small"]
NAME = re.compile(r"[\w.+-]*\w/[\w.+-]*\w")


def new_table(
    name: Annotated[str, typer.Argument(help="What to call the table.", metavar="PAPER/TABLE")],
    rows: Annotated[
        list[str],
        typer.Argument(help="Methods, a row each; of several the last is the proposed one.", metavar="METHOD..."),
    ],
    measure: Annotated[
        list[str], typer.Option(help="What a column measures. May be repeated.", metavar="PROTOCOL.METRIC")
    ],
    tables: Annotated[
        Path, typer.Option("--tables", help="Folder in which to write papers/PAPER/TABLE.toml.", metavar="FOLDER")
    ],
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Recipe of a scale. May be repeated (default: {', '.join(DEFAULT_RECIPES)}).", metavar="SCALE=RECIPE"
        ),
    ] = None,
    plugin: Plugins = None,
) -> None:
    """Write a table's file: methods as rows, measures as columns.

    Its headline claim, which has a verdict, is that the last method beats the first one on the first column; the file
    may name three. Published numbers, settings of rows and more can be added. Nothing is overwritten.
    """
    from pydantic import ValidationError

    from benchsuite.planning.columns import measured_columns
    from benchsuite.planning.recipe import read_recipe

    target = tables / PAPERS / f"{name}.toml"
    if not NAME.fullmatch(name):
        raise UsageError(f'"{name}": write PAPER/TABLE, of letters, digits and . _ + -, for example mine/table1.')
    has_files = any((tables / part).is_dir() for part in (PAPERS, RECIPES))
    load_own([tables] if has_files else [], plugin)
    if taken := table_files().get(name, target if target.exists() else None):
        raise UsageError(f'table "{name}" exists already, in {taken}. Choose another name, or edit that file.')
    for each in rows:
        if each not in methods:
            raise UnknownError("method", each, methods, hint=IN_A_PLUGIN)
    scales = dict(map(scale_of, recipe or DEFAULT_RECIPES))
    recipes = [read_recipe(of) for of in scales.values()]
    text = "\n".join(lines(name, scales, [column(each, recipes[0]) for each in measure], rows, recipes[0])) + "\n"
    try:
        table = Table.model_validate(tomllib.loads(text))
    except ValidationError as error:
        raise UsageError(f'table "{name}": {error.errors()[0]["msg"]}.') from error
    for setup in recipes:
        measured_columns(table, setup)
        setup.setup(table.rows[0].backbone, [])
    write_whole(target, text.encode(), overwrite=False)
    say(f"wrote {target}: {len(table.rows)} rows, {len(table.columns)} columns")
    files = "".join(f" --plugin {shlex.quote(str(file))}" for file in plugin or ())
    say(f"then: benchsuite repro {name} --scale {next(iter(scales))} --tables {shlex.quote(str(tables))}{files}")


def scale_of(text: str) -> tuple[str, str]:
    """`small=scenes-small` as a scale and its recipe."""
    scale, _, recipe = (part.strip() for part in text.partition("="))
    if not (scale and recipe):
        raise UsageError(f'--recipe "{text}": write SCALE=RECIPE.')
    return scale, recipe


def column(measure: str, recipe: "Recipe") -> dict[str, str]:
    """A column: what its task says of the measure, which is a fraction unless it says otherwise."""
    protocol, _, metric = measure.rpartition(".")
    own = recipe.protocols.get(recipe.stand_ins[protocol].protocol if protocol in recipe.stand_ins else protocol)
    about = tasks.card(own.task).about if own else {}
    words: dict[str, str] = {}
    if metric in about.get("measures", ()):
        headline = about.get("headline", ())
        known = about if metric in ([headline] if isinstance(headline, str) else headline) else {}
        words = {"unit": known.get("unit", "number"), "better": known.get("better", "neither")}
    key = re.sub(r"[^a-z0-9]+", "_", measure.lower()).strip("_")
    return {"key": key, "group": "", "label": measure, "measure": measure, **words}


def lines(
    name: str, scales: dict[str, str], columns: Sequence[dict[str, str]], rows: Sequence[str], recipe: "Recipe"
) -> Iterator[str]:
    """The file; strings of JSON are strings of TOML."""
    paper, _, table = name.partition("/")
    yield from pairs({"file_format": 1, "paper": paper, "table": table, "locator": "", "title": name})
    yield from ("", "[recipes]", *pairs(scales))
    for each in columns:
        yield from ("", "[[columns]]", *pairs(each))
    backbone = next(iter(recipe.backbones))
    for method in rows:
        role = {"role": "proposed"} if method == rows[-1] and len(rows) > 1 else {}
        label = methods.card(method).title
        yield from ("", "[[rows]]", *pairs({"label": label, "backbone": backbone, "method": method, **role}))
    asked = next((each["key"] for each in columns if each.get("better") != "neither"), "")
    if asked and len(rows) > 1:
        first, last = methods.card(rows[0]).title, methods.card(rows[-1]).title
        claim = {"statement": f"{last} is better than {first}", "locator": "", "row": last, "reference": first}
        yield from ("", "[[claims]]", *pairs({**claim, "columns": [asked], "headline": asked}))


def pairs(values: dict[str, Any]) -> Iterator[str]:
    """Keys and values, a line each."""
    for key, value in values.items():
        quoted = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
        yield f"{quoted} = {json.dumps(value, ensure_ascii=False)}"
