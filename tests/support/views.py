"""Tables with chosen records in their rows: what is made of a table is tested on them, not how runs are found."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchsuite.analysis.building import FoundRow, build_table
from benchsuite.analysis.table_view import Setting, TableView
from benchsuite.papers import Row, Table
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.schema import Record
from support.planned import request_of

Runs = Mapping[int, Record]


def found(row: Row, runs: Runs | Mapping[str, Runs], gap: str = "", requested: int | None = None) -> FoundRow:
    """A row with its records by replicate, or by part and replicate."""
    parts = {"": runs} if all(isinstance(key, int) for key in runs) else runs
    own = {record.run_id for part in parts.values() for record in part.values()}  # type: ignore[union-attr]
    return FoundRow(row, parts, gap, len(own) if requested is None else requested)  # type: ignore[arg-type]


def added(label: str, backbone: str = "RN50", method: str = "infonce", **changes: Any) -> Row:
    return Row(label=label, backbone=backbone, method=method, **changes)


def setting(name: str = "r", measures: Mapping[str, str] | None = None, **changes: Any) -> Setting:
    """One of a recipe with these changes, but for `stand_ins`, `missing` and `means`, which are by column key."""
    about = {name: changes.pop(name, {}) for name in ("stand_ins", "missing", "means")}
    recipe = read_recipe("scenes-smoke").model_copy(update={"primary": {}, "temperature_factor": 1.0, **changes})
    return Setting(name, recipe, measures or {}, **about)


def view_of(
    table: Table,
    rows: Sequence[FoundRow],
    measures: Mapping[str, str] | None = None,
    scale: str = "small",
    regime: str = "printed",
    siblings: Sequence[Table] = (),
    **about: Any,
) -> TableView:
    """The table with these rows, measured as its file says unless told otherwise; `about` is of its setting."""
    told = {column.key: column.measure for column in table.columns if isinstance(column.measure, str)}
    shared = setting(measures=told if measures is None else measures, **about)
    replicates = sorted({seed for one in rows for runs in one.parts.values() for seed in runs})
    names = [one.row.name for one in rows]
    request = request_of(table, scale, names, replicates or [0], shared.recipe, regime=regime)
    return build_table(table, request, shared, rows, [table, *siblings])
