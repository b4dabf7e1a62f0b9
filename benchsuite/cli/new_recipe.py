"""`benchsuite new-recipe`: a setup from a template, or from a recipe that exists."""

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import Plugins, Tables, load_own
from benchsuite.cli.shared.scaffolding import HERE, Into, NewName, quoted, say_next
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import UnknownError
from benchsuite.folders import RECIPES, recipe_files
from benchsuite.scaffolds import files_of, named, write_new


def new_recipe(
    name: NewName,
    into: Into = HERE,
    like: Annotated[
        str | None,
        typer.Option(help="Copy this recipe of `benchsuite list recipes`.", metavar="RECIPE"),
    ] = None,
    for_tables: Annotated[
        bool, typer.Option("--for-tables", help="Write to recipes/ of the folder, where tables find it.")
    ] = False,
    tables: Tables = None,
    plugin: Plugins = None,
) -> None:
    """Write a recipe: data, towers, training and evaluation of a setup.

    It has a few seconds of training to start with, or with --like what another recipe has.
    """
    load_own(tables, plugin)
    new = named("recipe", name, recipe_files())
    text = copied(like, new.words["title"]) if like else dict(files_of("recipe", new.words))[Path(f"{name}.toml")]
    (file,) = write_new(into, {Path(RECIPES if for_tables else "", f"{name}.toml"): text})
    say(f"wrote {file}")
    say_next(
        f"benchsuite run infonce --recipe {quoted(file)} --dry-run",
        f"benchsuite run infonce --recipe {quoted(file)}",
        "benchsuite list recipes --keys",
    )


def copied(name: str, title: str) -> str:
    """The text of a recipe under another title; what was tuned belongs to the other."""
    files = recipe_files()
    if name not in files:
        raise UnknownError("recipe", name, files, "--like: ", most=5)
    text = files[name].read_text("utf-8")
    return re.sub(r"^title = .*$", lambda _: f"title = {json.dumps(title)}", text, count=1, flags=re.MULTILINE)
