"""The `new-` commands: files to start from, each of which works as it is."""

import json
import re
import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.options import Plugins, Tables, load_own
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import IN_A_PLUGIN, UnknownError, UsageError, require_known
from benchsuite.fields import first_reason
from benchsuite.files import write_whole
from benchsuite.folders import PAPERS, RECIPES, recipe_files, table_files
from benchsuite.papers.schema import Table
from benchsuite.paths import constraints
from benchsuite.registry import Registry, datasets, methods, tasks
from benchsuite.scaffolds import files_of, named, require_free_module, write_new
from benchsuite.toml_files import as_toml

NewName = Annotated[str, typer.Argument(help="Its name: small letters, digits, hyphens.", metavar="NAME")]
Into = Annotated[Path, typer.Option("--into", help="Folder to write to (default: the current one).", metavar="FOLDER")]
HERE = Path()
DEFAULT_RECIPES = ["smoke=scenes-smoke", "small=scenes-small"]
TABLE_NAME = re.compile(r"[\w.+-]*\w/[\w.+-]*\w")


def new_method(name: NewName, into: Into = HERE) -> None:
    """Write a method's file and its tests.

    The method trains as it is; put your own loss in its place. docs/add-a-method.md explains the contract.
    """
    file, tests, _ = new_module(methods, name, into)
    repro = f"benchsuite repro temo/table1 --scale smoke --plugin {file} --rows infonce,{name}"
    say_next(f"benchsuite check-method {file}", run_tests(tests), repro)


def new_dataset(name: NewName, into: Into = HERE) -> None:
    """Write a dataset's file, its tests, and a recipe that trains on it.

    Image files with captions need no code: docs/own-data.md. This is for data of another kind.
    """
    file, tests, recipe = new_module(datasets, name, into)
    say_next(run_tests(tests), f"benchsuite run infonce --recipe {recipe} --plugin {file}")


def new_task(name: NewName, into: Into = HERE) -> None:
    """Write a task's file, its tests, and a recipe that is evaluated by it.

    The task stores ranks, so that `benchsuite verify` can compute its numbers again.
    """
    file, tests, recipe = new_module(tasks, name, into)
    run = f"benchsuite run infonce --recipe {recipe} --plugin {file}"
    say_next(run_tests(tests), run, f"benchsuite verify runs --plugin {file}")


def new_recipe(
    name: NewName,
    into: Into = HERE,
    like: Annotated[
        str | None, typer.Option(help="Copy this recipe of `benchsuite list recipes`.", metavar="RECIPE")
    ] = None,
    tables: Tables = None,
    plugin: Plugins = None,
) -> None:
    """Write a recipe: data, towers, training and evaluation of a setup.

    It has a few seconds of training to start with, or with --like what another recipe has. Tables find it in the folder
    recipes/ beside papers/.
    """
    from benchsuite.planning.recipe import read_recipe
    from benchsuite.setup import REFERENCES

    load_own(tables, plugin)
    new = named("recipe", name, recipe_files())
    file = Path(f"{name}.toml")
    write(into, {file: copied(like, new["title"]) if like else dict(files_of("recipe", new))[file]})
    made = read_recipe(str(into / file))
    method = REFERENCES[made.setup().towers]
    run = f"benchsuite run {method} --recipe {shlex.quote(str(into / file))}{plugins(plugin)}"
    say_next(f"{run} --dry-run", run)


def copied(name: str, title: str) -> str:
    """The text of a recipe under another title; what was tuned belongs to the other."""
    files = recipe_files()
    require_known("recipe", name, files, "--like: ")
    text = files[name].read_text("utf-8")
    return re.sub(r"^title = .*$", lambda _: f"title = {json.dumps(title)}", text, count=1, flags=re.MULTILINE)


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
    if not TABLE_NAME.fullmatch(name):
        raise UsageError(f'"{name}": write PAPER/TABLE, of letters, digits and . _ + -, for example mine/table1.')
    has_files = any((tables / part).is_dir() for part in (PAPERS, RECIPES))
    load_own([tables] if has_files else [], plugin)
    if taken := table_files().get(name, target if target.exists() else None):
        raise UsageError(f'table "{name}" exists already, in {taken}. Choose another name, or edit that file.')
    for each in rows:
        if each not in methods:
            raise UnknownError("method", each, methods, hint=IN_A_PLUGIN)
    scales = {}
    for text in recipe or DEFAULT_RECIPES:
        scale, _, of = (part.strip() for part in text.partition("="))
        if not (scale and of):
            raise UsageError(f'--recipe "{text}": write SCALE=RECIPE.')
        scales[scale] = of
    recipes = [read_recipe(of) for of in scales.values()]
    columns = [column_of(each, recipes[0]) for each in measure]
    content = table_of(name, scales, columns, rows, recipes[0])
    try:
        table = Table.model_validate(content)
    except ValidationError as error:
        raise UsageError(f'table "{name}": {first_reason(error)}.') from error
    for setup in recipes:
        measured_columns(table, setup)
        towers = setup.setup(table.rows[0].backbone, []).towers
        if wrong := [each for each in rows if towers not in methods.card(each).about.get("serves", ("pair",))]:
            raise UsageError(f"{wrong[0]} does not train {towers} towers, which recipe {setup.title} has.")
    write_whole(target, as_toml(content).encode(), overwrite=False)
    say(f"wrote {target}: {len(table.rows)} rows, {len(table.columns)} columns")
    if not table.claims:
        say(f"no headline claim: neither end of {table.columns[0].name} is better")
    own = f"--tables {shlex.quote(str(tables))}{plugins(plugin)}"
    say(f"then: benchsuite repro {name} --scale {next(iter(scales))} {own}")


def plugins(files: Sequence[Path] | None) -> str:
    """The options that load them again."""
    return "".join(f" --plugin {shlex.quote(str(file))}" for file in files or ())


def new_leaderboard(
    folder: Annotated[Path, typer.Argument(help="Folder to write to; its name is the package's.", metavar="FOLDER")],
    method: Annotated[str, typer.Option(help="Name of the board's first method.", metavar="NAME")] = "ours",
) -> None:
    """Write a repository for a leaderboard of your own.

    It has a plugin package with a method and a table, its tests, a folder for results, and workflows that check it and
    publish the pages.
    """
    board = named("package", folder.resolve().name, {})
    require_free_module(board["module"], folder)
    first = named("method", method, {known: card.owner for known, card in methods.cards().items()})
    package, table = board["module"], f"{board['module']}/table1"
    named("paper", board["name"], {name.partition("/")[0]: file for name, file in table_files().items()})
    imported = {"package": package, "import": f"{package}.{first['module']}", "distribution": board["name"]}
    words = {**first, **imported, "board": board["title"], "table": table}
    method_files = {path.name: text for path, text in files_of("method", words)}
    code = f"{first['module']}.py"
    write(folder, {
        **dict(files_of("leaderboard", words)),
        Path("constraints.txt"): constraints().read_text("utf-8"),
        Path(package, code): method_files[code],
        Path("tests", f"test_{code}"): method_files[f"test_{code}"],
    })  # fmt: skip
    say_next(
        f"cd {shlex.quote(str(folder))} && git init -b main && pip install -c constraints.txt -e '.[test]'",
        f"benchsuite check-method {method}",
        f"benchsuite repro {table} --scale smoke",
        f"benchsuite repro {table} --scale latents --results results",
        "benchsuite verify results --update",
        f"benchsuite report --results results --report site --title {shlex.quote(board['title'])}",
        f"git add . && git commit -m 'Add {table} at latents'",
    )
    say("then push it to GitHub and choose Settings > Pages > Source: GitHub Actions; README.md says more.")


def new_module(registry: Registry, name: str, into: Path) -> tuple[str, str, str]:
    """Write the template of a registry's kind; its module, its tests and its recipe, as a shell reads them."""
    new = named(registry.kind, name, {known: card.owner for known, card in registry.cards().items()})
    require_free_module(new["module"], into)
    write(into, dict(files_of(registry.kind, new)))
    names = (f"{new['module']}.py", f"test_{new['module']}.py", f"{new['module']}.toml")
    file, tests, recipe = (shlex.quote(str(into / name)) for name in names)
    return file, tests, recipe


def write(folder: Path, files: dict[Path, str]) -> None:
    """Write all files, or none, and say which."""
    say(*(f"wrote {path}" for path in write_new(folder, files)))


def run_tests(file: str) -> str:
    """What runs a file's tests, which takes a package that benchsuite does without."""
    return f"{'' if find_spec('pytest') else 'pip install pytest && '}python -m pytest {file}"


def say_next(*commands: str) -> None:
    """What to type next, one command a line."""
    say("then:", *(f"  {command}" for command in commands))
