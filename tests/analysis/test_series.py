from typing import Any

from support.made_records import MakeRecord
from support.views import found, view_of

from benchsuite.papers import Table
from benchsuite.papers.schema import Plot
from benchsuite.report.figures.from_table import curves

COLUMNS = [
    {"key": "a", "group": "", "label": "R@1", "measure": "retrieval.i2t_r1"},
    {"key": "b", "group": "", "label": "R@5", "measure": "retrieval.t2i_r5"},
]


def test_a_run_that_two_parts_of_a_table_share_is_one_line(make_record: MakeRecord) -> None:
    record = make_record(0, curves={"step": [0], "loss": [1.0]})[0]
    row: dict[str, Any] = {"label": "One", "backbone": "B", "method": "infonce"}
    columns = [{**column, "part": part} for column, part in zip(COLUMNS, ("first", "second"), strict=True)]
    table = Table.model_validate(
        {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": "r"},
         "columns": columns, "rows": [row], "parts": {"first": {}, "second": {}}}
    )  # fmt: skip
    view = view_of(table, [found(table.rows[0], {name: {0: record} for name in ("first", "second")})])
    (one,) = curves(Plot(title="", y=["loss"]), view.rows[0])
    assert (one.part, one.points) == ("first and second", [(1, 1.0)])
