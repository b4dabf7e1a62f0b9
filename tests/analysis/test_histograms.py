from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchsuite.analysis.building import build_table
from benchsuite.analysis.curves import HistogramSource, similarities, sources
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import RecordError
from benchsuite.papers import Table
from benchsuite.papers.schema import Plot
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record, Result
from benchsuite.setup import Protocol

MakeRecord = Callable[..., tuple[Record, bytes]]
MEANS = {"gap": 0.7, "positive_mean": 0.4, "negative_mean": 0.1}
COLUMNS = [
    {"key": "positive", "group": "", "label": "Positives", "measure": "pairs.positive_mean", "unit": "number"},
    {"key": "r1", "group": "", "label": "R@1", "measure": "retrieval.i2t_r1"},
]
SOURCE = HistogramSource("pairs", "")


def view(make: MakeRecord, measures: Mapping[str, float] = MEANS, seeds: int = 2) -> TableView:
    base = make()[0]
    setup = base.setup.model_copy(
        update={"protocols": {**base.setup.protocols, "pairs": Protocol(task="geometry", version=1)}}
    )
    results = {**base.results, "pairs": Result(task="geometry", version=1, metrics={}, counts={"pairs": 4},
                                               measures=dict(measures))}  # fmt: skip
    records = {str(seed): make(seed, setup=setup, results=results)[0] for seed in range(seeds)}
    row: dict[str, Any] = {"label": "One", "backbone": "B", "method": "infonce"}
    none = {"label": "None", "backbone": "B", "not_run": "no code"}
    table = Table.model_validate(
        {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": "r"},
         "columns": COLUMNS, "rows": [row, none]}
    )  # fmt: skip
    parts = {"": RequestedRuns(setup_id="", method_id="", runs={seed: str(seed) for seed in range(seeds)})}
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0,
        measures={"positive": "pairs.positive_mean", "r1": "retrieval.i2t_r1"},
        rows=[RequestedRow(**row, parts=parts), RequestedRow(label="None", backbone="B", not_run="no code")],
    )  # fmt: skip
    return build_table(table, request, records, {})


def kept(positives: list[int], negatives: list[int]) -> dict[str, NDArray[Any]]:
    return {"pairs.positives": np.array(positives), "pairs.negatives": np.array(negatives)}


def test_counts_of_all_seeds_are_shares_of_all_pairs(make_record: MakeRecord) -> None:
    by_seed = [kept([0, 0, 1, 3], [4, 4, 0, 0]), kept([0, 0, 2, 2], [0, 8, 0, 0])]
    (found,) = similarities(view(make_record), SOURCE, lambda record: by_seed[record.seed])
    assert (found.row.label, found.seeds) == ("One", [0, 1])
    assert found.edges.tolist() == [-1, -0.5, 0, 0.5, 1]
    assert found.shares["positives"].tolist() == [0, 0, 3 / 8, 5 / 8]
    assert found.shares["negatives"].tolist() == [1 / 4, 3 / 4, 0, 0]


def test_no_pairs_at_all_are_no_shares_and_no_error(make_record: MakeRecord) -> None:
    (found,) = similarities(view(make_record), SOURCE, lambda record: kept([0, 0], [0, 4]))
    assert found.shares["positives"].tolist() == [0, 0]


def test_runs_without_histograms_are_left_out(make_record: MakeRecord) -> None:
    half = {"pairs.positives": np.array([1])}
    assert similarities(view(make_record), SOURCE, lambda record: half) == []


def test_different_bins_are_refused_by_run(make_record: MakeRecord) -> None:
    with pytest.raises(RecordError, match=r'row "One".*different numbers of bins \(2 in run \w+, 4 in run \w+\)'):
        similarities(
            view(make_record), SOURCE, lambda record: kept([1] * (2 + 2 * record.seed), [1] * (2 + 2 * record.seed))
        )


def test_a_plot_has_histograms_where_its_column_looks_at_pairs_of_both_sides(make_record: MakeRecord) -> None:
    found, asked = view(make_record), Plot(title="", kind="histogram", y=["positive"])
    assert sources(found, asked) == [SOURCE]
    assert sources(found, asked.model_copy(update={"y": ["r1"]})) == []
    assert sources(view(make_record, measures={"positive_mean": 0.4, "uniformity_image": 1.0}), asked) == []
