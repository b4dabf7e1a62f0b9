import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.made_records import MakeRecord

from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, TrialsFile, write_trials


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def good(store: Store, make_record: MakeRecord) -> Record:
    """A record that must never be lost, whatever lies beside it."""
    record, ranks = make_record(seed=0)
    store.write(record, ranks)
    return record


def edit(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content), "utf-8")


def set_metric(content: dict[str, Any]) -> None:
    content["results"]["retrieval"]["metrics"]["i2t_r1"] = 0.45


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "edited metric": (lambda file: edit(file, set_metric), "not what was sealed"),
    "other schema": (lambda file: edit(file, lambda c: c.update(schema=7)), "record schema 7; .* reads schema 1"),
    "no seed": (lambda file: edit(file, lambda c: c.pop("seed")), "seed: Field required"),
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:-40]), "truncated or not JSON"),
    "empty object": (lambda file: file.write_text("{}"), "not a record"),
    "no ranks": (
        lambda file: next(file.parent.glob("infonce-s1*.ranks.*")).unlink(),
        "ranks, infonce-s1.*, are missing",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_bad_record_is_refused_with_the_reason_and_the_others_stay(
    store: Store, good: Record, make_record: MakeRecord, damage: str
) -> None:
    record, ranks = make_record(seed=1)
    file = store.write(record, ranks)
    harm, says = DAMAGES[damage]
    harm(file)
    contents = store.read()
    assert contents.records == {good.run_id: good}
    (refused,) = contents.refused
    assert refused.file == file
    assert record.run_id in contents.refused_runs
    with pytest.raises(type(contents.errors[0]), match=says):
        raise contents.errors[0]


def test_all_that_is_wrong_with_a_file_is_said(store: Store, make_record: MakeRecord) -> None:
    file = store.write(*make_record())
    edit(file, lambda c: (c.update(run_id="0" * 16), c["results"]["retrieval"]["metrics"].update(t2i_r1=2.0)))
    (refused,) = store.read().refused
    said = [problem.message.partition(" is ")[0] for problem in refused.problems]
    assert said == ["the content", "run_id", "retrieval: t2i_r1 = 2.0", "retrieval: t2i_r1 = 2.0"]


def test_a_record_under_another_name_is_refused_so_that_each_run_is_there_once(store: Store, good: Record) -> None:
    (original,) = store.folder.glob("infonce*.json")
    (store.folder / "a-copy.json").write_bytes(original.read_bytes())
    contents = store.read()
    assert contents.records == {good.run_id: good}
    assert [file.file.name for file in contents.refused] == ["a-copy.json"]
    assert original.name in contents.refused[0].problems[0].fix
    assert contents.refused_runs == {}
    original.unlink()
    assert store.read().refused_runs.keys() == {good.run_id}


@pytest.mark.parametrize("content", [b"[1, 2]", b'{"name": "package"}', b"3"])
def test_foreign_files_are_left_alone_and_named(store: Store, good: Record, content: bytes) -> None:
    (store.folder / "package.json").write_bytes(content)
    (store.folder / "notes.txt").write_text("mine")
    contents = store.read()
    assert (contents.records, contents.errors) == ({good.run_id: good}, [])
    assert contents.foreign == [store.folder / "package.json"]
    assert store.read().records == {good.run_id: good}


def test_a_damaged_note_or_request_hides_no_other(store: Store, good: Record, make_record: MakeRecord) -> None:
    lost = make_record(7)[0]
    store.add_failure(lost, "killed")
    (store.folder / "bbbb.failed.json").write_text("[]")
    (store.folder / "tables").mkdir()
    (store.folder / "tables" / "x.json").write_text('{"table": ')
    (store.folder / "tables" / "y.json").write_text('{"table": "temo/table1"}')
    contents = store.read()
    assert [one.reason for one in contents.failures.values()] == ["killed"]
    assert contents.records == {good.run_id: good}
    assert [error.file.name for error in contents.errors] == ["bbbb.failed.json", "x.json", "y.json"]


def test_a_gap_tells_a_failure_from_a_refusal(store: Store, make_record: MakeRecord) -> None:
    store.add_failure(make_record(seed=2)[0], "killed")
    record, ranks = make_record(seed=1)
    file = store.write(record, ranks)
    file.write_text(file.read_text().replace('"seconds": 1.5', '"seconds": 0.5'))
    gaps = {run.seed: why for run, why in store.read().unfinished}
    assert gaps[2] == "killed"
    assert gaps[1].startswith("its record was refused, the content is not what was sealed")


DEEP = f'{{"table": {"[" * 600}{"]" * 600}}}'


@pytest.mark.parametrize("content", ['{"temperature_factor": NaN}', '{"description": "\\ud800"}', DEEP])
def test_a_request_that_the_suite_could_not_have_written_is_named(store: Store, good: Record, content: str) -> None:
    (store.folder / "tables").mkdir()
    file = store.folder / "tables" / "x.json"
    file.write_text(content)
    contents = store.read()
    (error,) = contents.unreadable
    assert (error.file, error.reason.partition(" (")[0]) == (file, "not what is stored here")
    assert set(contents.records) == {good.run_id}


@pytest.mark.parametrize("name", ["", ".", "..", "a\0b", "\ud800", "x" * 300])
def test_ranks_of_an_impossible_name_are_missing(store: Store, good: Record, name: str) -> None:
    content = {**good.as_json(), "ranks": {"file": name, "sha256": ""}}
    (store.folder / "other.json").write_text(json.dumps(content))
    contents = store.read()
    assert [file.file.name for file in contents.refused] == ["other.json"]
    assert "are missing" in contents.refused[0].reason
    assert set(contents.records) == {good.run_id}


@pytest.mark.parametrize("on", [True, False])
def test_reading_leaves_the_collector_of_cycles_as_it_was(store: Store, good: Record, on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        assert list(store.read().records) == [good.run_id]
        assert gc.isenabled() == on
    finally:
        (gc.enable if before else gc.disable)()


def test_trials_are_read_by_recipe_and_a_damaged_file_is_named_and_skipped(store: Store, good: Record) -> None:
    for name in ("sound", "damaged"):
        write_trials(store.folder / TRIALS / f"{name}.parquet", TrialsFile(recipe=name, rule={}, setups={}, trials=[]))
    damaged = store.folder / TRIALS / "damaged.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    contents = store.read()
    assert (list(contents.trials), list(contents.records)) == (["sound"], [good.run_id])
    (error,) = contents.errors
    assert error.file == damaged
    assert "not a file of trials" in str(error)
    assert "benchsuite tune" in str(error)
