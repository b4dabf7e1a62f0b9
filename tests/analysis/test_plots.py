import math
from collections.abc import Callable
from typing import Any

import pytest

from benchsuite.analysis.building import build_table
from benchsuite.analysis.curves import series
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table
from benchsuite.papers.schema import Plot
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]
COLUMNS = [
    {"key": "a", "group": "", "label": "R@1", "measure": "retrieval.i2t_r1"},
    {"key": "b", "group": "", "label": "R@5", "measure": "retrieval.t2i_r5"},
]


@pytest.fixture
def view(make_record: MakeRecord) -> TableView:
    curves = {"step": [0, 1, 9], "gap": [0.9, None, 0.5], "loss": [3.0, 2.0, 1.0]}
    records = {str(seed): make_record(seed, curves=curves)[0] for seed in (0, 1)}
    row: dict[str, Any] = {"label": "One", "backbone": "B", "method": "infonce"}
    table = Table.model_validate(
        {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": "r"},
         "columns": COLUMNS, "rows": [row]}
    )  # fmt: skip
    parts = {"": RequestedRuns(setup_id="", method_id="", runs={0: "0", 1: "1"})}
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0,
        measures={"a": "retrieval.i2t_r1", "b": "retrieval.t2i_r5"}, rows=[RequestedRow(**row, parts=parts)],
    )  # fmt: skip
    return build_table(table, request, records, {})


def test_a_curve_is_a_line_a_seed_and_steps_count_from_one(view: TableView) -> None:
    found = series(view, Plot(title="", y=["gap", "loss"]))
    assert [(one.name, list(one.seeds)) for one in found] == [("gap", [0]), ("gap", [1]), ("loss", [0]), ("loss", [1])]
    assert (found[0].x, found[0].y) == ([1, 10], [0.9, 0.5])


def test_a_curve_that_no_record_has_is_no_line(view: TableView) -> None:
    assert series(view, Plot(title="", y=["temperature"])) == []


def test_a_column_against_another_is_a_point_a_seed(view: TableView) -> None:
    (one,) = series(view, Plot(title="", x="a", y=["b"]))
    cells = view.rows[0].cells
    assert (one.seeds, one.x, one.y) == ([0, 1], list(cells[0].values.values()), list(cells[1].values.values()))


def test_the_scale_on_which_theory_draws_a_line_leaves_out_the_first_step(view: TableView) -> None:
    found = series(view, Plot(title="", y=["loss"], x_scale="minus-inverse-log-squared"))
    assert found[0].x == pytest.approx([-1 / math.log(2) ** 2, -1 / math.log(10) ** 2])


def test_gaps_are_kept_where_they_are_asked_for(view: TableView) -> None:
    found = series(view, Plot(title="", y=["gap"]), gaps=True)
    assert found[0].x == [1, 2, 10]
    assert found[0].y == pytest.approx([0.9, math.nan, 0.5], nan_ok=True)


def test_a_histogram_has_no_series(view: TableView) -> None:
    assert series(view, Plot(title="", kind="histogram", y=["a"])) == []


def test_a_run_that_two_parts_of_a_table_share_is_one_line(make_record: MakeRecord) -> None:
    record = make_record(0, curves={"step": [0], "loss": [1.0]})[0]
    row: dict[str, Any] = {"label": "One", "backbone": "B", "method": "infonce"}
    columns = [{**column, "part": part} for column, part in zip(COLUMNS, ("first", "second"), strict=True)]
    table = Table.model_validate(
        {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": "r"},
         "columns": columns, "rows": [row], "parts": {"first": {}, "second": {}}}
    )  # fmt: skip
    parts = {name: RequestedRuns(setup_id="", method_id="", runs={0: "0"}) for name in ("first", "second")}
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0,
        measures={"a": "retrieval.i2t_r1", "b": "retrieval.t2i_r5"}, rows=[RequestedRow(**row, parts=parts)],
    )  # fmt: skip
    (one,) = series(build_table(table, request, {"0": record}, {}), Plot(title="", y=["loss"]))
    assert (one.part, one.y) == ("first and second", [1.0])
