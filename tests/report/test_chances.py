"""What a random order of the answers would reach, as heads of columns say it."""

from collections.abc import Callable

import numpy as np
import pytest

from benchsuite.analysis.building import build_table
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import read_table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record, Result
from benchsuite.report.origin import chances
from benchsuite.setup import Protocol

MakeRecord = Callable[..., tuple[Record, bytes]]


def view_of(make_record: MakeRecord, counts: dict[str, int], options: dict[str, int], *measures: str) -> TableView:
    """A table with one run, whose columns are these measures of one protocol."""
    setup = make_record()[0].setup.model_copy(
        update={"protocols": {"test": Protocol(task="any", version=1, options=options)}}
    )
    metrics = {name.partition(".")[2]: 0.5 for name in measures}
    record, _ = make_record(
        setup=setup, results={"test": Result(task="any", version=1, metrics=metrics, counts=counts)}
    )
    runs = RequestedRuns(setup_id=record.setup_id, method_id=record.method_id, runs={0: record.run_id})
    table = read_table("temo/table1")
    request = TableRequest.model_validate(
        {
            "table": "temo/table1", "scale": "small", "recipe": "any", "track": "any", "description": "",
            "measures": dict(zip((column.key for column in table.columns), measures, strict=False)),
            "stand_ins": {}, "missing": {}, "tuned": {}, "backbones": {}, "temperature_factor": 1.0,
            "rows": [RequestedRow(label="InfoNCE", backbone="RN50", method="infonce", parts={"": runs})],
        }
    )  # fmt: skip
    return build_table(table, request, {record.run_id: record}, {})


@pytest.mark.parametrize(
    ("counts", "options", "found"),
    [
        ({"i2t": 50, "t2i": 250}, {}, [0.02, 0.1]),
        ({"i2t": 50, "t2i": 250}, {"gallery": 10}, [0.1, 0.5]),
        ({"i2t": 4}, {}, [0.25, 1.0]),
    ],
)
def test_of_retrieval_it_is_the_depth_over_the_pictures(
    make_record: MakeRecord, counts: dict[str, int], options: dict[str, int], found: list[float]
) -> None:
    view = view_of(make_record, counts, options, "test.i2t_r1", "test.t2i_r5", "test.r_mean")
    assert list(chances(view, lambda _: {}).values()) == found, "of a mean over depths, nothing is said"


def test_of_classification_it_is_the_depth_over_the_classes_where_they_are_stored(make_record: MakeRecord) -> None:
    view = view_of(make_record, {"pictures": 80}, {}, "test.top1", "test.top3")
    assert list(chances(view, lambda _: {"test.classes": np.array([10])}).values()) == [0.1, 0.3]
    assert list(chances(view, lambda _: {"test.classes": np.array([2])}).values()) == [0.5, 1.0]
    assert chances(view, lambda _: {"other.classes": np.array([10])}) == {}
