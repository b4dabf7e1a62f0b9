"""What tests of pages share."""

from collections.abc import Callable

import pytest

from benchsuite.analysis.building import build_table
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import read_table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def measured(make_record: MakeRecord) -> TableView:
    """Two methods with three seeds each, and one seed of the second failed."""
    parts, records = {}, {}
    for name, values in {"infonce": (0.20, 0.22, 0.21), "temo": (0.40, 0.425, 0.41)}.items():
        runs = {}
        for seed, value in enumerate(values):
            first = make_record(seed)[0]
            part = first.method.model_copy(
                update={"name": name, "title": name.upper(), "version": 1 + (name == "temo")}
            )
            result = first.results["retrieval"]
            told = {"retrieval": result.model_copy(update={"metrics": {**result.metrics, "i2t_r1": value}})}
            temperatures = {"temperature": [0.1, 0.1], "temperature_positive": [0.1, 0.2]}
            curves = {"step": [0, 1], "loss": [2.0, 1.0], "gap": [0.9, 0.8], **temperatures}
            record = make_record(seed, method=part, results=told, curves=curves)[0]
            runs[seed], records[record.run_id] = record.run_id, record
        setup, method = record.setup_id, record.row_id
        parts[name] = {"": RequestedRuns(setup_id=setup, row_id=method, runs={**runs, 3: f"{name}-3"})}
    request = TableRequest(
        table="temo/table1", scale="small", recipe="scenes-small", track="scenes", description="small towers",
        measures={"coco_ir1": "retrieval.t2i_r5", "coco_tr1": "retrieval.i2t_r1"},
        stand_ins={"cifar10_top1": "the 10 colours of scenes"}, tuned={"rate": "by trial"},
        missing={"cifar100_top1": "scenes has no hundred classes"},
        backbones={"RN50": "a small ResNet"}, temperature_factor=5.0,
        rows=[
            RequestedRow(label="InfoNCE", backbone="RN50", method="infonce", parts=parts["infonce"]),
            RequestedRow(label="TeMo", backbone="RN50", method="temo", parts=parts["temo"]),
        ],
    )  # fmt: skip
    return build_table(read_table("temo/table1"), request, records, {"temo-3": "loss is not finite at step 7"})
