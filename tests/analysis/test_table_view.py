import statistics
from collections.abc import Callable
from typing import Any

import pytest
from scipy import stats
from support.measured import HIGH, LOW, measured

from benchsuite.analysis.building import build_table
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table, read_table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record
from benchsuite.setup import Setup

MakeRecord = Callable[..., tuple[Record, bytes]]
TABLE = Table.model_validate(
    {
        "file_format": 1, "paper": "p", "table": "t", "locator": "Table 1", "title": "T", "recipes": {"small": "r"},
        "columns": [
            {"key": "a", "group": "G", "label": "IR@5", "measure": {"scenes": "retrieval.t2i_r5"}},
            {"key": "b", "group": "H", "label": "TR@1", "measure": {"scenes": "retrieval.i2t_r1"}},
        ],
        "rows": [
            {"label": "First", "backbone": "RN50", "method": "infonce", "published": {"a": 12.5, "b": 40}},
            {"label": "Second", "backbone": "RN50", "not_run": "no code", "published": {"a": 20}},
        ],
    }
)  # fmt: skip


def record(make: MakeRecord, seed: int, i2t_r1: float, **changes: Any) -> Record:
    base = make(seed)[0]
    metrics = {**base.results["retrieval"].metrics, "i2t_r1": i2t_r1}
    results = {"retrieval": base.results["retrieval"].model_copy(update={"metrics": metrics})}
    return make(seed, results=results, **changes)[0]


def row(label: str, records: list[Record], **changes: Any) -> RequestedRow:
    runs = {r.seed: r.run_id for r in records}
    parts = {"": RequestedRuns(setup_id=records[0].setup_id, row_id="", runs=runs)} if records else {}
    return RequestedRow(**{"label": label, "backbone": "RN50", "method": "infonce", "parts": parts, **changes})


def view(rows: list[RequestedRow], records: list[Record], **changes: Any) -> TableView:
    parts = {
        "table": "p/t",
        "scale": "small",
        "recipe": "r",
        "track": "scenes",
        "description": "",
        "tuned": {},
        "backbones": {},
        "measures": {"a": "retrieval.t2i_r5", "b": "retrieval.i2t_r1"},
    }
    request = TableRequest(**parts, temperature_factor=1.0, rows=rows, **changes)
    return build_table(TABLE, request, {r.run_id: r for r in records}, changes.pop("failures", {}))


def test_a_cell_holds_the_published_fraction_and_ours_by_seed(make_record: MakeRecord) -> None:
    runs = [record(make_record, seed, value) for seed, value in enumerate((0.1, 0.2, 0.4))]
    first, second = view([row("First", runs)], runs).rows[0].cells
    assert (first.published, second.published) == (0.125, 0.4)
    assert second.values == {0: 0.1, 1: 0.2, 2: 0.4}
    assert second.mean == pytest.approx(statistics.fmean([0.1, 0.2, 0.4]))
    assert second.sd == pytest.approx(statistics.stdev([0.1, 0.2, 0.4]))


def test_the_interval_of_a_mean_is_students_t(make_record: MakeRecord) -> None:
    values = (0.1, 0.2, 0.4)
    runs = [record(make_record, seed, value) for seed, value in enumerate(values)]
    cell = view([row("First", runs)], runs).rows[0].cells[1]
    low, high = stats.t.interval(0.95, 2, statistics.fmean(values), stats.sem(values))
    assert (cell.low, cell.high) == (pytest.approx(low), pytest.approx(high))
    assert cell.half == pytest.approx((high - low) / 2)


def test_rows_stand_as_printed_and_others_after(make_record: MakeRecord) -> None:
    runs = [record(make_record, 0, 0.1)]
    labels = ["Mine", "Second", "First"]
    built = view([row(label, runs) for label in labels], runs)
    assert [one.label for one in built.rows] == ["First", "Second", "Mine"]
    assert built.rows[2].note == "Not in the paper's table."


def test_gaps_say_which_seeds_are_missing_and_why(make_record: MakeRecord) -> None:
    runs = [record(make_record, seed, 0.1) for seed in range(3)]
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="scenes", description="", tuned={}, backbones={},
        temperature_factor=1,
        rows=[row("First", runs), RequestedRow(label="Second", backbone="RN50", not_run="no code")],
    )  # fmt: skip
    built = build_table(TABLE, request, {runs[0].run_id: runs[0]}, {runs[1].run_id: "the loss is nan"})
    assert built.rows[0].gap == "seed 1 failed: the loss is nan; not run yet: seed 2"
    assert built.rows[1].gap == "no code"
    assert not built.complete


def test_rows_of_another_setup_are_named_and_not_shown(make_record: MakeRecord) -> None:
    plain = make_record(0)[0].setup.model_dump()
    plain["optimizer"]["lr"] = 0.5
    ours = record(make_record, 0, 0.1)
    other = record(make_record, 0, 0.3, setup=Setup.model_validate(plain))
    rows = [row("First", [ours]), row("Mine", [other])]
    built = view(rows, [ours, other], setups={"RN50": ours.setup_id})
    assert built.rows[0].cells[1].values == {0: 0.1}
    assert built.rows[1].cells[1].values == {}
    assert built.rows[1].gap.startswith(f"not comparable: measured under another setup, {other.setup_id}")
    assert "optimizer.lr 0.5 against 0.001" in built.rows[1].gap


PARTS = Table.model_validate(
    {
        **TABLE.model_dump(exclude={"columns", "rows"}),
        "parts": {"ten": {"variant": "ten"}, "hundred": {"variant": "hundred"}},
        "columns": [
            {"key": "a", "group": "10", "label": "R@1", "measure": "recall.i2t_r1", "part": "ten"},
            {"key": "b", "group": "100", "label": "R@1", "measure": "recall.i2t_r1", "part": "hundred"},
            {
                "key": "c",
                "group": "100",
                "label": "gap",
                "measure": "geometry.gap",
                "unit": "number",
                "part": "hundred",
            },
        ],
        "rows": [{"label": "First", "backbone": "RN50", "variant": "V", "method": "infonce", "published": {"c": 0.3}}],
    }
)


def parted(records: dict[str, list[Record]], stored: list[Record], **changes: Any) -> TableView:
    runs = {
        part: RequestedRuns(setup_id=some[0].setup_id, row_id="m", runs={r.seed: r.run_id for r in some})
        for part, some in records.items()
    }
    one = RequestedRow(
        label="First", backbone="RN50", variant="V", method="infonce", parts=runs, **changes.pop("row", {})
    )
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0,
        measures={"a": "retrieval.i2t_r1", "b": "retrieval.i2t_r1"}, missing={"c": "no geometry here"}, rows=[one],
        **changes,
    )  # fmt: skip
    return build_table(PARTS, request, {r.run_id: r for r in stored}, {})


def test_columns_of_different_parts_come_from_different_runs(make_record: MakeRecord) -> None:
    ten, hundred = [record(make_record, 0, 0.1)], [record(make_record, 1, 0.2)]
    found = parted({"ten": ten, "hundred": hundred}, ten + hundred).rows[0]
    assert [cell.values for cell in found.cells] == [{0: 0.1}, {1: 0.2}, {}]
    assert (found.shown, found.requested, found.measured) == ("First · V", 2, 2)


def test_what_a_scale_has_nothing_for_is_told_by_row_and_column(make_record: MakeRecord) -> None:
    ten = [record(make_record, 0, 0.1)]
    found = parted({"ten": ten}, ten, row={"missing": {"hundred": "no such data"}})
    assert found.rows[0].gap == "no such data"
    assert found.missing == {"100 gap": "no geometry here"}
    assert found.rows[0].cells[2].published == 0.3


def test_parts_are_kept_apart_by_their_own_runs(make_record: MakeRecord) -> None:
    """In one part the rows met other batches; in the other they did not, and are ranked."""

    def runs(value: float, **changes: Any) -> dict[str, Record]:
        return {
            f"{value}-{seed}-{len(changes)}": record(make_record, seed, value * (1 + seed / 50), **changes)
            for seed in range(3)
        }

    other = {"digests": {**make_record()[0].digests, "batches": "another"}}
    stored = {
        "High": {"ten": runs(0.4, **other), "hundred": runs(0.4)},
        "Low": {"ten": runs(0.1), "hundred": runs(0.1)},
    }
    rows = [
        RequestedRow(
            label=label, backbone="RN50", method="infonce",
            parts={
                part: RequestedRuns(setup_id="", row_id="", runs={one.seed: run for run, one in some.items()})
                for part, some in parts.items()
            },
        )
        for label, parts in stored.items()
    ]  # fmt: skip
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0,
        measures={"a": "retrieval.i2t_r1", "b": "retrieval.i2t_r1"}, rows=rows,
    )  # fmt: skip
    records = {run: one for parts in stored.values() for some in parts.values() for run, one in some.items()}
    built = build_table(PARTS, request, records, {})
    best = [built.is_best(built.rows[0], cell) for cell in built.rows[0].cells]
    assert (built.rows[0].label, best) == ("High", [False, True, False])


def test_rows_are_not_ranked_by_seeds_that_meant_something_else(make_record: MakeRecord) -> None:
    """Another batch order on every seed: nothing may be said of these two rows, however far apart they are."""

    def ranked(batches: str) -> list[bool]:
        digests = {**make_record()[0].digests, "batches": batches}
        high = [record(make_record, seed, 0.4 + seed / 1000) for seed in range(3)]
        method = make_record()[0].method.model_copy(update={"hyperparameters": {"tau": 0.5}})
        low = [record(make_record, seed, 0.1, digests=digests, method=method) for seed in range(3)]
        rows = [
            row("First", high),
            row("Low", low),
        ]
        request = TableRequest(
            table="p/t", scale="small", recipe="r", track="scenes", description="", tuned={}, backbones={},
            temperature_factor=1, measures={"b": "retrieval.i2t_r1"}, rows=rows,
        )  # fmt: skip
        built = build_table(TABLE, request, {r.run_id: r for r in [*high, *low]}, {})
        return [built.is_best(one, one.cells[1]) for one in built.rows]

    assert ranked("b") == [True, False]
    assert ranked("another") == [False, False]


def test_runs_with_other_numbers_of_threads_are_counted_apart(make_record: MakeRecord) -> None:
    request, found = measured(make_record, {"InfoNCE": HIGH, "TS": LOW})
    records = {record.run_id: record for record, _ in found}
    assert len(build_table(read_table("temo/table1"), request, records, {}).origins) == 1
    last = found[-1][0]
    records[last.run_id] = last.model_copy(update={"environment": {**last.environment, "threads": 7}})
    several, one = build_table(read_table("temo/table1"), request, records, {}).origins
    assert several.startswith(f"{len(records) - 1} runs: ")
    assert one.startswith("1 run: ")
    assert "7 threads" in one


def test_a_run_that_two_parts_share_is_one(make_record: MakeRecord) -> None:
    runs = [record(make_record, seed, 0.1) for seed in (0, 1)]
    asked = RequestedRuns(setup_id=runs[0].setup_id, row_id="", runs={r.seed: r.run_id for r in runs})
    shared = row("First", runs, parts={"": asked, "again": asked})
    (found, *_) = (whole := view([shared], runs)).rows
    assert (found.measured, found.requested, found.seeds) == (2, 2, 2)
    assert len(whole.runs) == 2
    assert [origin.partition(":")[0] for origin in whole.origins] == ["2 runs"]
    assert len(view([shared, row("Again", runs)], runs).runs) == 2
    lacking = view([shared], runs[:1])
    assert (lacking.rows[0].measured, lacking.rows[0].requested, lacking.complete) == (1, 2, False)
