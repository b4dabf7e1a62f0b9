"""Tables and recipes that are not built in: stored with the results by `repro`, checked by `verify`.

A results folder has them in the layout of `--tables`, so its pages can be made where the user's folder is not.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchsuite.analysis import request_check
from benchsuite.errors import UsageError
from benchsuite.folders import (
    PAPERS,
    RECIPES,
    built_in_recipes,
    built_in_tables,
    recipe_files,
    recipes_in,
    table_files,
    tables_in,
)
from benchsuite.papers.reader import read_table_file
from benchsuite.planning.recipe import Recipe
from benchsuite.records.record_file import Finding
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.toml_files import read_toml


def keep(store: Store, request: TableRequest) -> Iterator[str]:
    """Store the table and recipe of a request, unless built in; a line for each that was another one before.

    With the table go those of its paper that have the scale: they say how many claims its families have.
    """
    recipe = request.recipe
    own = {f"{PAPERS}/{name}.toml": file for name, file in _of_paper(request).items()}
    if recipe not in built_in_recipes():
        own[f"{RECIPES}/{recipe}.toml"] = recipe_files()[recipe]
    for name, file in own.items():
        if store.keep(name, file):
            yield f"changed: {store.folder / name} was another one, and is now as {file}."


def _of_paper(request: TableRequest) -> dict[str, Path]:
    """The request's table, unless it is built in, and such tables of its paper that have the scale."""
    built_in, (paper, _, _) = built_in_tables(), request.table.partition("/")
    if request.table in built_in:
        return {}
    own = {name: file for name, file in table_files().items() if name not in built_in and name.startswith(f"{paper}/")}
    return {
        name: file
        for name, file in own.items()
        if name == request.table or request.scale in read_table_file(name, file).recipes
    }


def problems(folder: Path, requests: list[TableRequest], records: Sequence[Record]) -> Iterator[Finding]:
    """What is wrong with the tables, recipes and requests that are stored in a results folder."""
    tables, recipes = tables_in(folder), recipes_in(folder)
    for what, files, built_in in (("table", tables, built_in_tables()), ("recipe", recipes, built_in_recipes())):
        for name, file in files.items():
            where = file.relative_to(folder).as_posix()
            if name in built_in:
                yield Finding(where, f'{what} "{name}" is built in, and cannot be replaced', "delete it or rename it")
                continue
            try:
                read_table_file(name, file) if what == "table" else read_toml(file, Recipe)
            except UsageError as error:
                yield Finding(where, str(error).removeprefix(str(file)).lstrip(":, "), "put it back as it was stored")
    known, there = {**built_in_tables(), **tables}, request_check.StoredRuns.of(records)
    for request in requests:
        if request.table not in known:
            message = f'table "{request.table}" is neither built in nor stored in {PAPERS}/, so no page can show it'
            fix = f"`benchsuite repro {request.table} --tables FOLDER` stores it"
            yield Finding(f"tables/{request.name}.json", message, fix)
            continue
        try:
            table = read_table_file(request.table, known[request.table])
        except UsageError:
            continue  # told above
        for wrong in request_check.problems(table, request, there):
            yield Finding(f"tables/{request.name}.json", wrong, request_check.REPAIR)
