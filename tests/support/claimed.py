"""A table of two rows on one column, with chosen values by seed: what judging claims is tested on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchsuite.analysis.building import build_table
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record

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
    **about: Any,
) -> TableView:
    """Each row's values by seed, on all columns; `changes` are of a row's records, `about` of the request."""
    records: dict[str, Record] = {}
    request = []
    for one in table.rows:
        runs = {}
        for seed, value in enumerate(values.get(one.label, ())):
            base = make(seed)[0]
            result = base.results["retrieval"]
            results = {"retrieval": result.model_copy(update={"metrics": {**result.metrics, "i2t_r1": value}})}
            record = make(seed, results=results, **(changes or {}).get(one.label, {}))[0]
            runs[seed] = f"{one.label}-{seed}"
            records[runs[seed]] = record
        parts = {"": RequestedRuns(setup_id="", row_id="", runs=runs)} if runs else {}
        request.append(
            RequestedRow(
                label=one.label, backbone=one.backbone, variant=one.variant, method=one.method, not_run=one.not_run,
                parts=parts,
            )
        )  # fmt: skip
    told = {
        "table": table.name, "scale": "small", "recipe": "r", "track": "s", "description": "", "tuned": {},
        "backbones": {}, "temperature_factor": 1.0, "rows": request,
        "measures": {column.key: "retrieval.i2t_r1" for column in table.columns},
    }  # fmt: skip
    return build_table(table, TableRequest.model_validate({**told, **about}), records, {})


HIGH, LOW = (0.30, 0.31, 0.33, 0.32), (0.10, 0.12, 0.12, 0.13)
TEXT = {"statement": "s", "locator": "abstract", "row": "ours", "reference": "old", "columns": ["a"]}
"""A claim of the text."""
HEADLINE = {**TEXT, "headline": "a"}


def claimed(*rows: dict[str, Any], **changes: Any) -> Table:
    """A table whose headline claim is that "ours" beats "old"."""
    return table(*rows, claims=[HEADLINE], **changes)
