"""What tests of pages share."""

from collections.abc import Callable

import pytest
from support.views import found, view_of

from benchsuite.analysis.table_view import TableView
from benchsuite.papers import read_table
from benchsuite.planning.recipe import Backbone, Tuned
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def measured(make_record: MakeRecord) -> TableView:
    """Two methods with three seeds each, and one seed of the second failed."""
    table, rows = read_table("temo/table1"), []
    for name, values in {"InfoNCE": (0.20, 0.22, 0.21), "TeMo": (0.40, 0.425, 0.41)}.items():
        row, runs = table.row(f"RN50/{name}"), {}
        for seed, value in enumerate(values):
            first = make_record(seed)[0]
            part = first.method.model_copy(
                update={"name": row.method, "title": name.upper(), "version": 1 + (name == "TeMo")}
            )
            result = first.results["retrieval"]
            told = {"retrieval": result.model_copy(update={"metrics": {**result.metrics, "i2t_r1": value}})}
            temperatures = {"temperature": [0.1, 0.1], "temperature_positive": [0.1, 0.2]}
            curves = {"step": [0, 1], "loss": [2.0, 1.0], "gap": [0.9, 0.8], **temperatures}
            runs[seed] = make_record(seed, method=part, results=told, curves=curves)[0]
        gap = "seed 3 failed: loss is not finite at step 7" if name == "TeMo" else "not run yet: seed 3"
        rows.append(found(row, runs, gap, 4))
    return view_of(
        table, rows, {"coco_ir1": "retrieval.t2i_r5", "coco_tr1": "retrieval.i2t_r1"},
        stand_ins={"cifar10_top1": "the 10 colours of scenes"},
        missing={"cifar100_top1": "scenes has no hundred classes"}, description="small towers",
        tuned={"rate": Tuned(chosen="factor 5", trials=3, rule="by trial")},
        backbones={"RN50": Backbone(description="a small ResNet")}, temperature_factor=5.0,
    )  # fmt: skip
