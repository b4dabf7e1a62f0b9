"""TeMo's Table 1 on two columns, measured as a test wishes: as a side of a comparison, and as a results folder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchsuite.analysis.building import build_table
from benchsuite.papers import read_table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record, Result
from benchsuite.records.store import Store
from benchsuite.verify.agreement import FolderSide

MakeRecord = Callable[..., tuple[Record, bytes]]
Values = Mapping[str, Sequence[float]]
HIGH, LOW = (0.30, 0.31, 0.33, 0.32), (0.10, 0.12, 0.12, 0.13)
"""Two rows that four seeds tell apart."""
TIED = (0.13, 0.10, 0.12, 0.12)
"""One that they cannot tell from the second."""
CURVES = {"step": [0, 1], "loss": [2.0, None], "temperature": [0.1, 0.1], "temperature_positive": [0.1, 0.2]}
"""With what premises on temperatures look at."""


def measured(
    make: MakeRecord, values: Values, first: int = 0, mark: str = "", **changes: Any
) -> tuple[TableRequest, list[tuple[Record, bytes]]]:
    """What was asked for, and its records: each row's R@1 by seed, on RN50; changes are of the request.

    `mark`: what makes its rows others than those of another table.
    """
    rows, found = [], []
    printed = {row.label: row for row in read_table("temo/table1").rows if row.backbone == "RN50"}
    for label, column in values.items():
        runs, name = {}, (printed[label].method if label in printed else None) or "infonce"
        for seed, value in enumerate(column, first):
            numbers = {"metrics": {"t2i_r1": value, "i2t_r1": value / 2}, "counts": {"t2i": 100}}
            options = {**(printed[label].hyperparameters if label in printed else {}), "row": label + mark}
            method = make()[0].method.model_copy(
                update={"name": name, "hyperparameters": options, "title": label},
            )
            result = {"retrieval": Result(task="retrieval", version=1, **numbers)}
            found.append(make(seed, results=result, method=method, curves=CURVES))
            runs[seed] = found[-1][0].run_id
        parts = (
            {"": RequestedRuns(setup_id=found[-1][0].setup_id, row_id=found[-1][0].row_id, runs=runs)} if runs else {}
        )
        rows.append(RequestedRow(label=label, backbone="RN50", method=name, parts=parts))
    parts = {
        "table": "temo/table1", "scale": "small", "recipe": "scenes-small", "track": "scenes",
        "description": "", "tuned": {},
        "backbones": {}, "temperature_factor": 1.0,
        "measures": {"coco_ir1": "retrieval.t2i_r1", "coco_tr1": "retrieval.i2t_r1"},
    }  # fmt: skip
    return TableRequest(**{**parts, "rows": rows, **changes}), found


def side(make: MakeRecord, values: Values, **changes: Any) -> FolderSide:
    """As one side of a comparison."""
    request, found = measured(make, values, **changes)
    records = {record.run_id: record for record, _ in found}
    return FolderSide("results", [build_table(read_table("temo/table1"), request, records, {})], records)


def fill(folder: Path, make: MakeRecord, values: Values, **changes: Any) -> Path:
    """As a results folder."""
    store = Store(folder)
    store.require_writable()
    request, found = measured(make, values, **changes)
    for record, ranks in found:
        store.write(record, ranks)
    store.add_request(request)
    return folder
