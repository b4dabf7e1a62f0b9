"""`benchsuite new-table`: a table's file, from methods and measures."""

import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import Plugins, load_own
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import IN_A_PLUGIN, UnknownError, UsageError
from benchsuite.files import write_whole
from benchsuite.folders import PAPERS, RECIPES, table_files
from benchsuite.papers.schema import Table
from benchsuite.registry import methods
from benchsuite.toml_files import as_toml

DEFAULT_RECIPES = ["smoke=scenes-smoke", "small=scenes-small"]
NAME = re.compile(r"[\w.+-]*\w/[\w.+-]*\w")


def new_table(
    name: Annotated[str, typer.Argument(help="What to call the table.", metavar="PAPER/TABLE")],
    rows: Annotated[
        list[str],
        typer.Argument(
            help="Methods, a row each; the first is what the others are compared with.", metavar="METHOD..."
        ),
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

    Its headline claims, which have verdicts, are that each later method beats the first one on the first column.
    Published numbers, settings of rows and more can be added. Nothing is overwritten.
    """
    from pydantic import ValidationError

    from benchsuite.planning.columns import column_of, measured_columns
    from benchsuite.planning.comparison import table_of
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
    columns = [column_of(each, recipes[0]) for each in measure]
    content = table_of(name, scales, columns, rows, recipes[0])
    try:
        table = Table.model_validate(content)
    except ValidationError as error:
        raise UsageError(f'table "{name}": {error.errors()[0]["msg"]}.') from error
    for setup in recipes:
        measured_columns(table, setup)
        setup.setup(table.rows[0].backbone, [])
    write_whole(target, as_toml(content).encode(), overwrite=False)
    say(f"wrote {target}: {len(table.rows)} rows, {len(table.columns)} columns")
    files = "".join(f" --plugin {shlex.quote(str(file))}" for file in plugin or ())
    say(f"then: benchsuite repro {name} --scale {next(iter(scales))} --tables {shlex.quote(str(tables))}{files}")


def scale_of(text: str) -> tuple[str, str]:
    """`small=scenes-small` as a scale and its recipe."""
    scale, _, recipe = (part.strip() for part in text.partition("="))
    if not (scale and recipe):
        raise UsageError(f'--recipe "{text}": write SCALE=RECIPE.')
    return scale, recipe
