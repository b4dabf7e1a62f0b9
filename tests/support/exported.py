"""A small table of two columns, measured as a test wishes, for its exports."""

from collections.abc import Callable, Mapping, Sequence

from benchsuite.analysis.building import build_table
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]
VALUES = {"Best": (0.40, 0.41, 0.42, 0.43), "Twin_2": (0.405, 0.405, 0.425, 0.425), "Worst": (0.10, 0.12, 0.11, 0.12)}
TABLE = Table.model_validate(
    {
        "file_format": 1, "paper": "p", "table": "t", "locator": "Table 1", "title": "T", "recipes": {"small": "r"},
        "columns": [
            {"key": "a", "group": "A & B", "label": "R@1", "measure": "retrieval.i2t_r1"},
            {"key": "b", "group": "G", "label": "gap", "measure": "retrieval.i2t_r1", "unit": "number",
             "better": "lower"},
        ],
        "rows": [
            {"label": "Best", "backbone": "RN50", "method": "infonce", "published": {"a": 12.5, "b": 0.3}},
            {"label": "Twin_2", "backbone": "RN50", "method": "infonce", "published": {"a": 35}, "quoted": "elsewhere"},
            {"label": "Worst", "backbone": "RN50", "method": "infonce", "published": {"a": 1}},
            {"label": "None", "backbone": "RN50", "not_run": "no code", "published": {"a": 2}},
        ],
    }
)  # fmt: skip


def build(make: MakeRecord, values: Mapping[str, Sequence[float]], table: Table = TABLE) -> TableView:
    """Each row's R@1 by seed, on both columns."""
    records, rows = {}, []
    for row in table.rows:
        runs = {}
        for seed, value in enumerate(values.get(row.label, ())):
            result = make(seed)[0].results["retrieval"]
            results = {"retrieval": result.model_copy(update={"metrics": {**result.metrics, "i2t_r1": value}})}
            runs[seed] = f"{row.label}-{seed}"
            records[runs[seed]] = make(seed, results=results)[0]
        parts = {"": RequestedRuns(setup_id="", method_id="", runs=runs)} if runs else {}
        rows.append(RequestedRow(label=row.label, backbone="RN50", method=row.method, parts=parts, not_run=row.not_run))
    measures = dict.fromkeys("ab", "retrieval.i2t_r1")
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0,
        measures=measures, rows=rows,
    )  # fmt: skip
    return build_table(table, request, records, {})
