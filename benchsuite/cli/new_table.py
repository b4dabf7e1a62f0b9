"""`benchsuite new-table`: a table's file from a CSV."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from benchsuite.cli.shared.options import Plugins, load_own
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import IN_A_PLUGIN, UsageError, unknown
from benchsuite.files import write_whole
from benchsuite.folders import PAPERS, RECIPES, table_files
from benchsuite.papers.from_csv import FILL_IN, CsvColumn, CsvRow, as_toml, key_of, read_csv
from benchsuite.papers.schema import Row
from benchsuite.registry import methods, tasks
from benchsuite.toml_files import line_of

if TYPE_CHECKING:
    from benchsuite.planning.recipe import Recipe

DEFAULT_RECIPES = ["smoke=scenes-smoke", "small=scenes-small"]
NEAREST = 5
"""Measures that are named where one does not exist: recipes have hundreds."""
NAME = re.compile(r"[\w.+-]*\w/[\w.+-]*\w")


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
    headers, rows = read_csv(file)
    columns = measured(headers, pairs("--measure", measure or [], "COLUMN=PROTOCOL.METRIC"), recipes, rows)
    described = [described_row(f"{file}, line {row.line}", row, backbone, recipes) for row in rows]
    text = as_toml(name, title or name, scales, columns, described)
    write_whole(target, text.encode(), overwrite=False)
    numbers = sum(len(row.published) for row in rows)
    say(f"{target}: {len(rows)} rows, {len(columns)} columns, {numbers} published numbers")
    for row, whole in zip(rows, described, strict=True):
        if "method" not in row.about and whole.about["method"] != FILL_IN:
            say(f'  row "{row.label}": method {whole.about["method"]}, by its label')
    if missing := list(to_fill_in(text, columns, described)):
        say("to fill in or check:", *(f"  {what}" for what in missing))
    if any(column.measure == FILL_IN for column in columns):
        say("measures:", *(f"  {what}" for what in listed(recipes)))
    if not any(row.about.get("role") == "proposed" for row in described):
        say('No row is proposed, so the table claims nothing: add role = "proposed" to your own.')
    files = "".join(f" --plugin {shlex.quote(str(file))}" for file in plugin or ())
    say(f"then: benchsuite repro {name} --scale {next(iter(scales))} --tables {shlex.quote(str(tables))}{files}")


def pairs(option: str, texts: Sequence[str], form: str) -> dict[str, str]:
    """`small=scenes-small` as {"small": "scenes-small"}."""
    split = {text: [part.strip() for part in text.rpartition("=")] for text in texts}
    if wrong := [text for text, (left, _, right) in split.items() if not left or not right]:
        raise UsageError(f'{option} "{wrong[0]}": write {form}.')
    return {left: right for left, _, right in split.values()}


def measured(
    headers: Sequence[str], given: Mapping[str, str], recipes: "Mapping[str, Recipe]", rows: Sequence[CsvRow]
) -> list[CsvColumn]:
    """The columns with what measures them, where that is given or is the header itself."""
    for name in given:
        if name not in headers:
            raise unknown("column", name, headers, "--measure: ")
    known = set.intersection(*(set(measures(recipe)) for recipe in recipes.values()))
    columns: list[CsvColumn] = []
    for header in headers:
        measure = given.get(header, header if header in known else FILL_IN)
        if measure not in {*known, FILL_IN}:
            where = f'--measure "{header}={measure}", at {", ".join(recipes)}: '
            raise unknown("measure", measure, known, where, most=NEAREST)
        column = CsvColumn(key_of(header), header, measure, *kind(measure, next(iter(recipes.values()))))
        values = [row.published[column.key] for row in rows if column.key in row.published]
        columns.append(in_unit(column, values))
    return columns


def in_unit(column: CsvColumn, values: Sequence[float]) -> CsvColumn:
    """The column, refused if its numbers are not percentages and its measure is one."""
    impossible = [value for value in values if not 0 <= value <= 100]
    if column.unit == "number" or not values:
        return column
    if column.measure == FILL_IN:
        return replace(column, unit="number") if impossible else column
    if impossible:
        raise UsageError(
            f'column "{column.header}": {impossible[0]:g} is not a percentage, and {column.measure} is one.'
        )
    return column


def measures(recipe: "Recipe") -> Iterator[str]:
    """All that a recipe measures, by the papers' names of protocols and by its own."""
    from benchsuite.planning.columns import metrics_of

    own = {
        **{name: stand_in.protocol for name, stand_in in recipe.stand_ins.items()},
        **{n: n for n in recipe.protocols},
    }
    for name, protocol in own.items():
        yield from (f"{name}.{metric}" for metric in metrics_of(recipe.protocols[protocol].task))


def kind(measure: str, recipe: "Recipe") -> tuple[str, str]:
    """The unit of a measure, and what is better, as its task says."""
    name, _, metric = measure.rpartition(".")
    protocol = recipe.stand_ins[name].protocol if name in recipe.stand_ins else name
    if protocol not in recipe.protocols:
        return "percent", "higher"
    about = tasks.card(recipe.protocols[protocol].task).about
    if metric in about["metrics"]:
        return "percent", "higher"
    headline = about.get("headline", ())
    is_headline = metric in ((headline,) if isinstance(headline, str) else headline)
    return (about.get("unit", "number"), about.get("better", "neither")) if is_headline else ("number", "neither")


def described_row(where: str, row: CsvRow, backbone: str | None, recipes: "Mapping[str, Recipe]") -> CsvRow:
    """The row with backbone and method; refused if what it names does not exist."""
    first = next(iter(recipes.values()))
    about = {"backbone": backbone or next(iter(first.backbones)), "method": by_label(row.label), **row.about}
    roles = get_args(Row.model_fields["role"].annotation)
    if about.get("role", "baseline") not in roles:
        raise unknown("role", about["role"], roles, f"{where}: ")
    if about["method"] != FILL_IN and about["method"] not in methods:
        raise unknown("method", about["method"], methods, f"{where}: ", IN_A_PLUGIN)
    for recipe in recipes.values():
        for what, name, known in (
            ("backbone", about["backbone"], recipe.backbones), ("variant", about.get("variant", ""), recipe.variants)
        ):  # fmt: skip
            if name and name not in known and not recipe.lacks(name):
                raise unknown(what, name, known, f'{where}, recipe "{recipe.title}": ')
    return replace(row, about=about)


def listed(recipes: "Mapping[str, Recipe]") -> Iterator[str]:
    """A line for each protocol that all recipes have, with what it measures."""
    from benchsuite.planning.columns import metrics_of

    first, *others = recipes.values()
    for name, protocol in first.protocols.items():
        if all(name in other.protocols for other in others):
            yield f"{name}.METRIC, METRIC one of {', '.join(metrics_of(protocol.task))}"


def by_label(label: str) -> str:
    """The method whose name or title is the label, if there is one."""
    cards = methods.cards().values()
    found = [card.name for card in cards if label.casefold() in (card.name.casefold(), card.title.casefold())]
    return found[0] if len(found) == 1 else FILL_IN


def to_fill_in(text: str, columns: Sequence[CsvColumn], rows: Sequence[CsvRow]) -> Iterator[str]:
    """Each place that the user must fill in or check: its line, what it is, and what it can be."""
    for number, column in enumerate(columns):
        if column.measure == FILL_IN:
            line = line_of(text, ("columns", number, "measure"))
            more = 'and unit = "number" if it is not in percent' if column.unit == "percent" else "in plain numbers"
            yield f'line {line}, column "{column.header}": measure, one of the list below, {more}'
        elif column.better == "neither":
            line = line_of(text, ("columns", number, "better"))
            yield f'line {line}, column "{column.header}": better, "higher" or "lower", or nothing is claimed on it'
        values = [row.published[column.key] for row in rows if column.key in row.published]
        if column.unit == "percent" and values and max(values) <= 1:
            yield f'column "{column.header}": no number is above 1; if these are fractions, write 21.6 instead of 0.216'
    for number, row in enumerate(rows):
        if row.about["method"] == FILL_IN:
            line = line_of(text, ("rows", number, "method"))
            yield (
                f'line {line}, row "{row.label}": method, one of `benchsuite list methods`, '
                'or in its place not_run = "why nothing runs it"'
            )
