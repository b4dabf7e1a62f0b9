"""A page shows what table, recipe and records say; which runs are a row's follows from what they ran."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.forged import REQUEST, add, edited, honest
from support.planned import setup_of

from benchsuite.analysis.building import build_views
from benchsuite.analysis.table_view import TableView
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import TunedBy
from benchsuite.records.store import Store


def shown(folder: Path) -> TableView:
    (view,), skipped = build_views(Store(folder).read())
    assert not skipped
    return view


def seeds(folder: Path, label: str = "TS") -> list[int]:
    (row,) = (row for row in shown(folder).rows if row.label == label)
    return sorted(row.cells[0].values)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return honest(tmp_path, ("InfoNCE", "TS"))


def test_a_row_has_all_of_its_runs_and_no_other(folder: Path) -> None:
    view = shown(folder)
    assert [(row.label, row.measured, row.gap) for row in view.rows] == [("InfoNCE", 4, ""), ("TS", 4, "")]
    assert {record.method.name for record in view.rows[1].records} == {"ts"}
    assert (view.complete, view.outdated) == (True, [])


@pytest.mark.parametrize(
    "method",
    [
        {"learning_rate": 0.1},
        {"longer": 2.0},
        {"hyperparameters": {"tau_min": 0.01, "tau_max": 0.05, "periods": 5.0}},
        {"hyperparameters": {"tau_min": 0.02, "tau_max": 0.1, "periods": 5.0, "extra": 1.0}},
        {"hyperparameters": {"tau_min": 0.02, "tau_max": 0.1}},
        {"name": "cwcl"},
    ],
    ids=["rate", "longer", "without the factor", "a key more", "a key less", "another method"],
)
def test_a_run_of_another_method_than_the_rows_is_not_shown(folder: Path, method: dict[str, Any]) -> None:
    add(folder, "TS", 7, method)
    assert seeds(folder) == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", [1000, 2003])
def test_a_trial_is_no_run_of_a_row(folder: Path, seed: int) -> None:
    add(folder, "TS", seed)
    assert seeds(folder) == [0, 1, 2, 3]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "steps": lambda setup: {"training": setup.training.model_copy(update={"steps": 3})},
    "factor": lambda setup: {"temperature_factor": 1.0},
    "an option of the data": lambda setup: {
        "data": setup.data.model_copy(update={"options": {**setup.data.options, "train": 65}})
    },
    "an option of a task": lambda setup: {
        "protocols": {
            **setup.protocols,
            "retrieval": setup.protocols["retrieval"].model_copy(update={"options": {"split": "train"}}),
        }
    },
    "the version of a task": lambda setup: {
        "protocols": {**setup.protocols, "geometry": setup.protocols["geometry"].model_copy(update={"version": 2})}
    },
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_run_under_another_setup_than_the_recipes_is_not_shown(folder: Path, what: str) -> None:
    setup = setup_of(read_recipe(str(folder / "recipes" / "tiny.toml")), "RN50")
    changed = setup.model_copy(update=CHANGES[what](setup))
    first = add(folder, "TS", 6)
    results = {
        name: result.model_copy(update={"version": changed.protocols[name].version})
        for name, result in first.results.items()
    }
    add(folder, "TS", 7, setup=changed, results=results)
    assert seeds(folder) == [0, 1, 2, 3, 6]


def test_a_replicate_draws_the_data_of_its_number(tmp_path: Path) -> None:
    folder = honest(tmp_path, ("TS",))
    setup = setup_of(read_recipe(str(folder / "recipes" / "tiny.toml")), "RN50")
    for seed, drawn in ((5, 5), (6, 1)):
        options = {**setup.data.options, "seed": setup.data.options["seed"] + drawn}
        data = setup.data.model_copy(update={"options": options, "redrawn": "seed", "digest": str(drawn) * 64})
        digests = {"initial_weights": "w", "batches": "b", "data": str(drawn) * 64}
        add(folder, "TS", seed, setup=setup.model_copy(update={"data": data}), digests=digests)
    assert seeds(folder) == [0, 1, 2, 3, 5]


def test_an_honest_run_more_hides_nothing(folder: Path) -> None:
    add(folder, "TS", 7)
    assert seeds(folder) == [0, 1, 2, 3, 7]


def test_of_runs_of_one_replicate_the_last_of_the_current_version_is_shown_and_the_row_says_so(folder: Path) -> None:
    later = add(folder, "TS", 3, {"version": 9}, created="2027-01-01T00:00:00+00:00")
    (_, row) = shown(folder).rows
    assert row.measured == 4
    assert later.run_id not in {record.run_id for record in row.records}
    assert row.gap.startswith("of several runs of seed 3")


def test_of_a_version_that_is_not_known_here_the_widest_search_of_a_run_counts(folder: Path) -> None:
    rate, wide = (TunedBy(trials=8, trial=0, score=0.5, digest="d", searched=what) for what in ([], ["tau_max"]))
    add(folder, "TS", 7, {"version": 9, "learning_rate": 0.1}, tuned=rate, also_tuned=[wide])
    edited(folder / REQUEST, lambda content: content.update(regime="tuned", trials=8))
    (folder / REQUEST).rename(folder / "tables/mine-first-smoke-tuned.json")
    (record,) = shown(folder).rows[1].records
    assert record.tuned == wide


def test_missing_runs_are_told_with_their_reason(folder: Path) -> None:
    lost = add(folder, "TS", 8)
    next(folder.glob(f"*-{lost.run_id}.json")).unlink()
    Store(folder).add_failure(lost, "the loss is nan")
    edited(folder / REQUEST, lambda content: content["replicates"].extend([8, 9]))
    infonce, ts = shown(folder).rows
    assert infonce.gap == "not run yet: seed 8, 9"
    assert ts.gap == "seed 8 failed: the loss is nan; not run yet: seed 9"
    assert (ts.measured, ts.requested) == (4, 6)


def test_a_request_can_say_nothing_of_results(folder: Path) -> None:
    told = json.loads((folder / REQUEST).read_text())
    assert told.keys() == TableRequest.model_fields.keys()
    words = ("primary", "measures", "stand_ins", "missing", "description", "backbones", "runs", "not_run")
    assert not {*words} & told.keys()
    edited(folder / REQUEST, lambda content: content.update(primary={"retrieval": {"difference": 1e-9}}))
    assert Store(folder).read().requests == []


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("papers/mine/first.toml", "My method", "Another title", "the table has changed"),
        ("recipes/tiny.toml", "difference = 0.01", "difference = 0.001", "the recipe has changed"),
        ("papers/mine/first.toml", 'label = "TS"', 'label = "T"', "the table has no row RN50/TS"),
    ],
)
def test_a_file_that_changed_since_is_told_and_hides_nothing(
    folder: Path, file: str, old: str, new: str, says: str
) -> None:
    text = (folder / file).read_text()
    (folder / file).write_text(f"# a comment does not count\n{text}")
    assert shown(folder).outdated == []
    (folder / file).write_text(text.replace(old, new))
    view = shown(folder)
    assert any(says in one for one in view.outdated)
    assert seeds(folder, "InfoNCE") == [0, 1, 2, 3]
