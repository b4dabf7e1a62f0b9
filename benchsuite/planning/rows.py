"""Which rows of a table are run: all, those a user names, added methods, and the reference trained longer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchsuite.errors import IN_A_PLUGIN, UnknownError, UsageError, require_known
from benchsuite.papers import Row, Table
from benchsuite.papers.claim import headline_rows
from benchsuite.papers.schema import TablePart
from benchsuite.planning.recipe import Recipe
from benchsuite.records.requests import AddedRow
from benchsuite.registry import methods
from benchsuite.setup import REFERENCES

HEADLINES = "headlines"
"""What a user asks for in place of the names of the rows that headline claims compare."""


class LongerRow(NamedTuple):
    """A row of the reference method that is given a dearer method's compute."""

    row: Row
    times: float


def rows_to_run(
    table: Table, recipe: Recipe, wanted: Sequence[str], extra: Sequence[str], tuned: bool
) -> list[LongerRow]:
    """The rows of the table and of added methods; where rows are tuned, those of the reference trained longer too."""
    _require_hyperparameters(table)
    wanted = [name for each in wanted for name in (_headline_rows(table) if each == HEADLINES else [each])]
    longer = longer_rows(table.rows, recipe, wanted) if tuned else []
    labels = {label for added in longer for label in added.row.names}
    own = [name for name in wanted if name not in labels]
    return [LongerRow(row, 1.0) for row in (select(table, own, extra) if own or not wanted else [])] + longer


def _require_hyperparameters(table: Table) -> None:
    """Refuse a name to print or to search that is no method's: what was meant would be tuned, or kept."""
    known = {field.name for row in table.rows if row.method for field in methods.card(row.method).fields}
    for key, names in (("printed", table.printed), ("searched", table.searched)):
        for name in names:
            require_known("hyper-parameter", name, known, f"{table.name}, {key}: ")


def _headline_rows(table: Table) -> list[str]:
    if not (names := headline_rows(table)):
        raise UsageError(f"{table.name} makes no headline claim, so --rows {HEADLINES} names no row of it.")
    return names


def select(table: Table, wanted: Sequence[str], extra: Sequence[str]) -> list[Row]:
    """The named rows (all if none is named), and a row under each setup for every added method without rows."""
    own = {row.method for row in table.rows}
    setups = dict.fromkeys((row.backbone, row.variant) for row in table.rows if row.method)
    addable = [
        Row(label=methods.card(name).title, backbone=backbone, variant=variant, method=name)
        for backbone, variant in setups
        for name in (methods if wanted else extra)
        if name not in own
    ]
    rows = [] if wanted else [*table.rows, *addable]
    for asked in wanted:
        found = [row for row in table.rows if asked in _names(row)] or [row for row in addable if asked in _names(row)]
        if not found:
            labels = {row.label for row in table.rows} | set(methods)
            raise UnknownError("row", asked, labels, f"{table.name}: ", IN_A_PLUGIN)
        rows += [row for row in found if row not in rows]
    labels = {row.label for row in table.rows}
    for row in rows:
        if row in addable and row.label in labels:
            raise UsageError(f'{table.name} has a row "{row.label}": give method "{row.method}" another title.')
    return [row for row in (*table.rows, *addable) if row in rows]


def _names(row: Row) -> set[str]:
    """What a user may call it: also its method, alone or below backbone and variant."""
    return row.names | (row.model_copy(update={"label": row.method}).names if row.method else set())


def added_rows(added: Sequence[AddedRow], titles: Mapping[str, str]) -> Iterator[LongerRow]:
    """Rows that a table's file does not have. `titles`: of methods that are not registered here, as records say."""
    for one in added:
        title = methods.card(one.method).title if one.method in methods else titles.get(one.method, one.method)
        label = title if one.longer == 1 else f"{title}, {one.longer:g} times the steps"
        yield LongerRow(Row(label=label, backbone=one.backbone, variant=one.variant, method=one.method), one.longer)


def own_part(row: Row, times: float, part: TablePart) -> TablePart:
    """The part; for a row of the reference trained longer without what is another method's hyper-parameter."""
    if times == 1 or row.method is None:
        return part
    known = {field.name for field in methods.card(row.method).fields}
    given = {name: value for name, value in part.hyperparameters.items() if name in known}
    return part.model_copy(update={"hyperparameters": given})


def longer_rows(rows: Sequence[Row], recipe: Recipe, wanted: Sequence[str]) -> list[LongerRow]:
    """One for each group of rows that are compared, and each length of the recipe's rule; those wanted, if any are."""
    groups = dict.fromkeys((row.backbone, row.variant) for row in rows if row.method)
    lengths, asked = recipe.tuning.longer if recipe.tuning else [], []
    for backbone, variant in groups:
        if not recipe.lacks(backbone, variant):
            method = REFERENCES[recipe.setup(backbone, (variant,)).towers]
            asked += [AddedRow(method=method, backbone=backbone, variant=variant, longer=times) for times in lengths]
    return [added for added in added_rows(asked, {}) if not wanted or added.row.names & {*wanted}]
