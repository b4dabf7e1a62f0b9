"""A table of two rows on one column, with chosen values by seed: what judging claims is tested on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table
from benchsuite.records.schema import Record
from support.views import found, view_of

MakeRecord = Callable[..., tuple[Record, bytes]]


def table(*rows: dict[str, Any], **changes: Any) -> Table:
    column = {"key": "a", "group": "G", "label": "R@1", "measure": "retrieval.i2t_r1", **changes.pop("column", {})}
    told = {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": "r"}}
    return Table.model_validate({**told, "columns": [column], "rows": rows, **changes})


def row(label: str, published: float, role: str = "baseline", **changes: Any) -> dict[str, Any]:
    told = {"label": label, "backbone": "B", "method": "infonce", "role": role, "published": {"a": published}}
    return {**told, **changes}


TWO = row("old", 10), row("ours", 12, "proposed")


def view(
    make: MakeRecord,
    table: Table,
    values: Mapping[str, Sequence[float]],
    changes: Mapping[str, Any] | None = None,
    first: int = 0,
    **about: Any,
) -> TableView:
    """Each row's values by seed, from the first one, on all columns.

    `changes` are of a row's records, `about` of the table's setting.
    """
    rows = []
    for one in table.rows:
        runs = {}
        for seed, value in enumerate(values.get(one.label, ()), first):
            result = make(seed)[0].results["retrieval"]
            results = {"retrieval": result.model_copy(update={"metrics": {**result.metrics, "i2t_r1": value}})}
            runs[seed] = make(seed, results=results, **(changes or {}).get(one.label, {}))[0]
        rows.append(found(one, runs, one.not_run))
    measures = {column.key: "retrieval.i2t_r1" for column in table.columns}
    return view_of(table, rows, **{"measures": measures, **about})


HIGH, LOW = (0.30, 0.31, 0.33, 0.32), (0.10, 0.12, 0.12, 0.13)
TEXT = {"statement": "s", "locator": "abstract", "row": "ours", "reference": "old", "columns": ["a"]}
"""A claim of the text."""
HEADLINE = {**TEXT, "headline": "a"}


def claimed(*rows: dict[str, Any], **changes: Any) -> Table:
    """A table whose headline claim is that "ours" beats "old"."""
    return table(*rows, claims=[HEADLINE], **changes)
