"""A table's request is a file that anyone can edit: what it lists must be the runs of its rows, all of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.measured import HIGH, LOW, TIED, fill

from benchsuite.analysis import request_check
from benchsuite.analysis.building import build_views
from benchsuite.papers import read_table
from benchsuite.records.contents import Contents
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

Make = Callable[..., tuple[Record, bytes]]
Forgery = Callable[[dict[str, Any]], object]


@pytest.fixture
def folder(tmp_path: Path, make_record: Make) -> Path:
    return fill(tmp_path / "results", make_record, {"InfoNCE": HIGH, "TS": TIED, "TeMo": LOW})


def runs(content: dict[str, Any], label: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in content["rows"] if row["label"] == label)["parts"][""]
    return found


def swap(content: dict[str, Any]) -> None:
    """All of two rows, so that the request agrees with itself."""
    first, second = runs(content, "InfoNCE"), runs(content, "TeMo")
    kept = dict(first)
    first.update(second)
    second.update(kept)


def repeat(content: dict[str, Any]) -> None:
    best = runs(content, "TeMo")["runs"]["2"]
    runs(content, "TeMo")["runs"] = {str(seed): best for seed in range(10)}


def drop(content: dict[str, Any]) -> None:
    del runs(content, "TeMo")["runs"]["0"]


def other_setup(content: dict[str, Any]) -> None:
    runs(content, "TeMo")["setup_id"] = "0" * 16
    content["setups"]["RN50"] = "0" * 16


def one_of_another(content: dict[str, Any]) -> None:
    runs(content, "TeMo")["runs"]["0"] = runs(content, "InfoNCE")["runs"]["0"]


FORGERIES = {
    swap: "is one of temo, not of infonce",
    repeat: "is listed for seed 0, but its seed is 2, not 0",
    drop: "seed 0 is stored but left out",
    other_setup: "but its setup is",
    one_of_another: "is one of infonce, not of temo",
}


def forge(folder: Path, forgery: Forgery) -> TableRequest:
    (file,) = (folder / "tables").glob("*.json")
    content = json.loads(file.read_text())
    forgery(content)
    file.write_text(json.dumps(content))
    return TableRequest.model_validate(content)


def stored(contents: Contents) -> request_check.StoredRuns:
    return request_check.StoredRuns.of(contents.records.values())


def test_an_honest_request_has_no_problem(folder: Path) -> None:
    contents = Store(folder).read()
    assert not list(request_check.problems(read_table("temo/table1"), contents.requests[0], stored(contents)))
    views, left_out = build_views(contents)
    assert len(views) == 1
    assert not left_out


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_request_is_told_and_not_shown(folder: Path, forgery: Forgery) -> None:
    request = forge(folder, forgery)
    contents = Store(folder).read()
    found = list(request_check.problems(read_table("temo/table1"), request, stored(contents)))
    assert any(FORGERIES[forgery] in problem for problem in found), found
    views, left_out = build_views(contents)
    assert not views
    assert "temo-table1-small.json" in str(left_out[0])


def test_runs_with_another_value_of_what_the_row_states(folder: Path) -> None:
    table = read_table("temo/table1")
    contents = Store(folder).read()
    stated = [
        row.model_copy(update={"hyperparameters": {"tau": 0.5}}) if row.label == "InfoNCE" else row
        for row in table.rows
    ]
    found = list(
        request_check.problems(table.model_copy(update={"rows": stated}), contents.requests[0], stored(contents))
    )
    assert len(found) == len(HIGH)
    assert "has tau = " in found[0]
    assert "but the row has 0.5" in found[0]


def test_a_temperature_may_be_multiplied_by_the_factor_of_the_recipe() -> None:
    assert request_check._same(0.03, 0.01, 3.0)
    assert request_check._same(0.01, 0.01, 3.0)
    assert not request_check._same(0.02, 0.01, 3.0)
    assert not request_check._same(None, 0.01, 3.0)
    assert not request_check._same(True, "yes", 1.0)


def test_a_second_request_of_one_table_is_refused(folder: Path) -> None:
    file = folder / "tables" / "temo-table1-small.json"
    (folder / "tables" / "another.json").write_bytes(file.read_bytes())
    contents = Store(folder).read()
    assert len(contents.requests) == 1
    assert "temo-table1-small.json alone" in str(contents.unreadable[0])
