"""`benchsuite new-table`: a table's file from a CSV."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchsuite.cli.shared.options import Plugins, load_own
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import IN_A_PLUGIN, UnknownError, UsageError
from benchsuite.files import write_whole
from benchsuite.folders import PAPERS, RECIPES, table_files
from benchsuite.papers.from_csv import FILL_IN, as_toml, column, read_csv, row
from benchsuite.papers.schema import Table
from benchsuite.registry import methods, tasks

if TYPE_CHECKING:
    from benchsuite.planning.recipe import Recipe

DEFAULT_RECIPES = ["smoke=scenes-smoke", "small=scenes-small"]
NAME = re.compile(r"[\w.+-]*\w/[\w.+-]*\w")
HINTS = {
    f'measure = "{FILL_IN}"': 'measure, one of the list below, and unit = "number" if it is not in percent',
    f'method = "{FILL_IN}"': 'method, one of `benchsuite list methods`, or instead not_run = "why nothing runs it"',
    'better = "neither"': 'better, "higher" or "lower", or nothing is claimed on it',
}
"""Lines of a draft that need a look, and what to write there."""


def new_table(
    file: Annotated[Path, typer.Argument(help="CSV: a label in the first column, then columns.", metavar="FILE.csv")],
    name: Annotated[str, typer.Argument(help="What to call the table.", metavar="PAPER/TABLE")],
    tables: Annotated[
        Path, typer.Option("--tables", help="Folder in which to write papers/PAPER/TABLE.toml.", metavar="FOLDER")
    ],
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Recipe of a scale. May be repeated (default: {', '.join(DEFAULT_RECIPES)}).", metavar="SCALE=RECIPE"
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help="What measures a column. May be repeated.", metavar="COLUMN=PROTOCOL.METRIC"),
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="Backbone of rows that give none (default: the recipe's first).")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the table (default: its name).")] = None,
    plugin: Plugins = None,
) -> None:
    """Write a table's file from a CSV, and list what must be filled in.

    The first column has the rows' labels. Columns named method, backbone, variant, role and note describe rows. All
    others are the table's columns: published numbers, or nothing. A header "MSCOCO/IR@1" is column IR@1 of the group
    MSCOCO; a header "retrieval.t2i_r1" is measured by that. Nothing is overwritten.
    """
    from benchsuite.planning.recipe import read_recipe

    target = tables / PAPERS / f"{name}.toml"
    if not NAME.fullmatch(name):
        raise UsageError(f'"{name}": write PAPER/TABLE, of letters, digits and . _ + -, for example mine/table1.')
    has_files = any((tables / part).is_dir() for part in (PAPERS, RECIPES))
    load_own([tables] if has_files else [], plugin)
    if taken := table_files().get(name, target if target.exists() else None):
        raise UsageError(f'table "{name}" exists already, in {taken}. Choose another name, or edit that file.')
    scales = pairs("--recipe", recipe or DEFAULT_RECIPES, "SCALE=RECIPE")
    recipes = {scale: read_recipe(of) for scale, of in scales.items()}
    headers, lines = read_csv(file)
    measures = pairs("--measure", measure or [], "COLUMN=PROTOCOL.METRIC")
    if other := [header for header in measures if header not in headers]:
        raise UnknownError("column", other[0], headers, "--measure: ")
    paper, _, table = name.partition("/")
    tower = backbone or next(iter(next(iter(recipes.values())).backbones))
    rows = [row(cells, headers, backbone=tower, method=by_label(cells["label"])) for cells in lines]
    draft = {
        "file_format": 1, "paper": paper, "table": table, "locator": "", "title": title or name, "recipes": scales,
        "columns": [measured(header, measures.get(header, ""), list(recipes.values()), rows) for header in headers],
        "rows": rows,
    }  # fmt: skip
    text = as_toml(draft)
    read = checked(file, text, recipes)
    write_whole(target, text.encode(), overwrite=False)
    numbers = sum(len(each.published) for each in read.rows)
    say(f"{target}: {len(read.rows)} rows, {len(read.columns)} columns, {numbers} published numbers")
    for cells, each in zip(lines, read.rows, strict=True):
        if not cells.get("method") and each.method != FILL_IN:
            say(f'  row "{each.label}": method {each.method}, by its label')
    if missing := [*to_fill_in(text), *fractions(read)]:
        say("to fill in or check:", *(f"  {what}" for what in missing))
    if any(each.measure == FILL_IN for each in read.columns):
        of_each = metrics(list(recipes.values())).items()
        say("measures:", *(f"  {own}.METRIC, METRIC one of {', '.join(names)}" for own, names in of_each))
    if not any(each.role == "proposed" for each in read.rows):
        say('No row is proposed, so the table claims nothing: add role = "proposed" to your own.')
    files = "".join(f" --plugin {shlex.quote(str(file))}" for file in plugin or ())
    say(f"then: benchsuite repro {name} --scale {next(iter(scales))} --tables {shlex.quote(str(tables))}{files}")


def pairs(option: str, texts: Sequence[str], form: str) -> dict[str, str]:
    """`small=scenes-small` as {"small": "scenes-small"}."""
    split = {text: [part.strip() for part in text.rpartition("=")] for text in texts}
    if wrong := [text for text, (left, _, right) in split.items() if not left or not right]:
        raise UsageError(f'{option} "{wrong[0]}": write {form}.')
    return {left: right for left, _, right in split.values()}


def measured(header: str, given: str, recipes: "Sequence[Recipe]", rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The column, with what measures it where that is given or is the header itself."""
    measure = given or (header if all(about_of(header, each) for each in recipes) else FILL_IN)
    unit, better = kind(measure, recipes[0])
    own = column(header)
    values = [each["published"][own["key"]] for each in rows if own["key"] in each.get("published", ())]
    if measure == FILL_IN and not all(0 <= value <= 100 for value in values):
        unit = "number"
    more = {"unit": unit} if unit != "percent" else {}
    return {**own, "measure": measure, **more, **({"better": better} if better != "higher" else {})}


def about_of(measure: str, recipe: "Recipe") -> Mapping[str, Any]:
    """What the task says of itself that a recipe measures it by, under the papers' or its own name; else nothing."""
    from benchsuite.planning.columns import metrics_of

    name, _, metric = measure.rpartition(".")
    own = recipe.protocols.get(recipe.stand_ins[name].protocol if name in recipe.stand_ins else name)
    return tasks.card(own.task).about if own and metric in metrics_of(own.task) else {}


def kind(measure: str, recipe: "Recipe") -> tuple[str, str]:
    """The unit of a measure, and what is better, as its task says."""
    metric, about = measure.rpartition(".")[2], about_of(measure, recipe)
    if not about or metric in about["metrics"]:
        return "percent", "higher"
    headline = about.get("headline", ())
    is_headline = metric in ((headline,) if isinstance(headline, str) else headline)
    return (about.get("unit", "number"), about.get("better", "neither")) if is_headline else ("number", "neither")


def checked(file: Path, text: str, recipes: "Mapping[str, Recipe]") -> Table:
    """The draft as the reader of tables and the planner see it, but for what is to be filled in."""
    from pydantic import ValidationError

    from benchsuite.planning.columns import measured_columns

    try:
        table = Table.model_validate(tomllib.loads(text))
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"{file}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}.") from error
    known = table.model_copy(update={"columns": [each for each in table.columns if each.measure != FILL_IN]})
    for recipe in recipes.values():
        measured_columns(known, recipe)
        for each in table.rows:
            if each.method not in (*methods, FILL_IN):
                raise UnknownError("method", str(each.method), methods, f'{file}, row "{each.label}": ', IN_A_PLUGIN)
            if not recipe.lacks(each.backbone, each.variant):
                recipe.setup(each.backbone, [each.variant])
    return table


def metrics(recipes: "Sequence[Recipe]") -> dict[str, Sequence[str]]:
    """What each protocol measures that all recipes have."""
    from benchsuite.planning.columns import metrics_of

    first, *others = recipes
    shared = {name: protocol for name, protocol in first.protocols.items() if all(name in o.protocols for o in others)}
    return {name: metrics_of(protocol.task) for name, protocol in shared.items()}


def by_label(label: str) -> str:
    """The method whose name or title is the label, if there is one."""
    cards = methods.cards().values()
    found = [card.name for card in cards if label.casefold() in (card.name.casefold(), card.title.casefold())]
    return found[0] if len(found) == 1 else FILL_IN


def to_fill_in(text: str) -> Iterator[str]:
    """Each line of a draft that the user must fill in or check, and what it can be."""
    label = ""
    for number, line in enumerate(text.splitlines(), start=1):
        key, _, value = line.partition(" = ")
        label = json.loads(value) if key == "label" else label
        if line in HINTS:
            yield f'line {number}, "{label}": {HINTS[line]}'


def fractions(table: Table) -> Iterator[str]:
    """Columns of percentages whose numbers look like fractions."""
    for each in table.columns:
        values = [line.published[each.key].value for line in table.rows if each.key in line.published]
        if each.unit == "percent" and values and max(values) <= 1:
            yield f'column "{each.name}": no number is above 1; if these are fractions, write 21.6 instead of 0.216'
