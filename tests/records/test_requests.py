from pathlib import Path
from typing import Any

from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.store import Store


def row(label: str, runs: dict[int, str], setup_id: str = "setup", method_id: str = "method") -> RequestedRow:
    return RequestedRow(
        label=label,
        backbone="RN50",
        method="ts",
        parts={"": RequestedRuns(setup_id=setup_id, row_id=method_id, runs=runs)},
    )


def request(*rows: RequestedRow, **changes: Any) -> TableRequest:
    content = {
        "table": "temo/table1",
        "scale": "smoke",
        "recipe": "scenes-smoke",
        "track": "scenes",
        "description": "",
        "tuned": {},
        "backbones": {},
        "temperature_factor": 1.0,
    }
    return TableRequest.model_validate({**content, "rows": list(rows), **changes})


def test_seeds_of_a_row_are_joined() -> None:
    joined = request(row("TS", {1: "b"})).merged_with(request(row("TS", {0: "a"})))
    assert [joined_row.parts[""].runs for joined_row in joined.rows] == [{0: "a", 1: "b"}]


def test_rows_are_joined_in_the_first_order() -> None:
    joined = request(row("TeMo", {0: "c"})).merged_with(request(row("CLIP", {0: "a"}), row("TeMo", {0: "c"})))
    assert [joined_row.label for joined_row in joined.rows] == ["CLIP", "TeMo"]


def test_runs_of_another_setup_are_replaced() -> None:
    joined = request(row("TS", {1: "b"}, setup_id="new")).merged_with(request(row("TS", {0: "a"})))
    assert [(joined_row.parts[""].setup_id, joined_row.parts[""].runs) for joined_row in joined.rows] == [
        ("new", {1: "b"})
    ]


def test_runs_of_another_method_version_are_replaced() -> None:
    joined = request(row("TS", {1: "b"}, method_id="new")).merged_with(request(row("TS", {0: "a"})))
    assert [joined_row.parts[""].runs for joined_row in joined.rows] == [{1: "b"}]


def test_setups_and_variants_are_joined_and_the_new_ones_win() -> None:
    before = request(setups={"RN50": "old", "ViT": "v"}, variants={"wide": "old words", "deep": "d"})
    joined = request(setups={"RN50": "new"}, variants={"wide": "new words"}).merged_with(before)
    assert joined.setups == {"RN50": "new", "ViT": "v"}
    assert joined.variants == {"wide": "new words", "deep": "d"}


def test_one_label_on_two_backbones_is_two_rows() -> None:
    other = row("TS", {0: "v"}).model_copy(update={"backbone": "ViT-B/16"})
    assert len(request(other).merged_with(request(row("TS", {0: "a"}))).rows) == 2


def test_the_store_joins_requests_of_one_table_and_scale(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add_request(request(row("TS", {0: "a"})))
    joined = store.add_request(request(row("TS", {1: "b"}), row("TeMo", {0: "c"})))
    store.add_request(request(row("TS", {0: "s"}), scale="small"))
    assert {(stored.name, len(stored.rows)) for stored in store.read().requests} == {
        ("temo-table1-smoke", 2),
        ("temo-table1-small", 1),
    }
    assert joined in store.read().requests
    assert joined.rows[0].parts[""].runs == {0: "a", 1: "b"}
