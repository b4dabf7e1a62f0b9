import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from support.made_records import MakeRecord

from benchsuite.errors import UsageError
from benchsuite.records.checkpoints import folder_of
from benchsuite.records.names import WEIGHTS_FILE, stem
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.record_file import FileError, read_record
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Sidecar, TunedBy
from benchsuite.records.store import Store


class PowerCutError(Exception):
    pass


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_what_was_written_is_read_back_with_its_ranks(store: Store, make_record: MakeRecord) -> None:
    records = {}
    for seed in (0, 1):
        record, ranks = make_record(seed)
        place = store.write(record, ranks)
        assert read_record(place) == record
        kept = (store.folder / record.ranks.file).read_bytes()
        assert hashlib.sha256(kept).hexdigest() == record.ranks.sha256
        records[record.run_id] = record
    assert store.read().records == records


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "../up", ".hidden", "two words", "a:b", "///"])
def test_a_method_of_any_name_is_stored_under_a_harmless_one(store: Store, make_record: MakeRecord, name: str) -> None:
    method = make_record()[0].method.model_copy(update={"name": name})
    content, sidecar = pack_ranks(stem(name, 0, "f00d"), [("retrieval.i2t", np.arange(1, 5))])
    record, _ = make_record(method=method, ranks=sidecar)
    place = store.write(record, content)
    assert place.parent == store.folder
    assert set(place.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._+-")
    assert not place.name.startswith((".", "-"))
    assert store.read().records == {record.run_id: record}


def test_an_empty_or_missing_folder_has_no_records(store: Store) -> None:
    assert store.read().records == {}
    assert Store(store.folder / "none").read().records == {}
    contents = Store(store.folder / "none").read()
    assert (contents.failures, contents.requests) == ({}, [])


@pytest.mark.parametrize("hard_links", [True, False])
def test_a_second_measurement_keeps_the_first(
    store: Store, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch, hard_links: bool
) -> None:
    if not hard_links:
        monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError("no hard links here")))
    first, ranks = make_record()
    second, _ = make_record(cost={"seconds": 99.0})
    assert first.run_id == second.run_id
    store.write(first, ranks)
    store.write(second, ranks)
    assert store.read().records == {first.run_id: first}


def test_a_record_is_replaced_when_another_search_found_the_run_and_not_before_the_new_one_is_there(
    store: Store, make_sound: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = (TunedBy(trials=n, trial=0, score=0.5, digest="d") for n in (2, 4))
    first, ranks = make_sound(tuned=short, cost={"tuning_trials": 2})
    store.write(first, ranks)
    again, other = make_sound(tuned=long, also_tuned=[short], cost={"tuning_trials": 4}, ranks={"i2t": np.array([1])})
    assert (again.run_id, again.ranks == first.ranks) == (first.run_id, False)
    with monkeypatch.context() as patch:
        patch.setattr("benchsuite.records.store.write_whole", Mock(side_effect=OSError("no room")))
        with pytest.raises(OSError, match="no room"):
            store.write(again, other)
    assert store.read().records == {first.run_id: first}
    store.write(again, other)
    assert store.read().records == {again.run_id: again}
    assert not (store.folder / first.ranks.file).exists()
    store.write(first, ranks)
    assert store.read().records == {again.run_id: again}, "it knows of both searches"


def test_a_write_cut_short_leaves_nothing_to_be_read(
    store: Store, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(handle: int) -> None:
        raise PowerCutError

    monkeypatch.setattr(os, "fsync", cut)
    with pytest.raises(PowerCutError):
        store.write(*make_record())
    with pytest.raises(PowerCutError):
        store.add_failure(make_record()[0], "lost")
    assert (store.read().records, store.read().failures) == ({}, {})
    monkeypatch.undo()
    record, ranks = make_record()
    store.write(record, ranks)
    assert store.read().records == {record.run_id: record}


def test_ranks_are_there_before_the_record(
    store: Store, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, placed = os.link, []

    def noting(source: Path, target: Path) -> None:
        placed.append(target)
        link(source, target)

    monkeypatch.setattr(os, "link", noting)
    record, ranks = make_record()
    place = store.write(record, ranks)
    assert placed == [store.folder / record.ranks.file, place]


def test_nothing_but_the_files_meant_to_stay_is_left(store: Store, make_record: MakeRecord) -> None:
    store.require_writable()
    record, ranks = make_record()
    place = store.write(record, ranks)
    assert {file.name for file in store.folder.iterdir()} == {place.name, record.ranks.file}


def test_leftovers_of_a_killed_write_are_ignored(store: Store, make_record: MakeRecord) -> None:
    record, ranks = make_record()
    place = store.write(record, ranks)
    (store.folder / f".{place.name}.4711").write_bytes(place.read_bytes()[:50])
    (store.folder / f".{place.name}").write_bytes(b"{")
    assert store.read().records == {record.run_id: record}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe", "truncated or not JSON"),
        (b'{"run_id": "0", "seed": 1, "seed": 2}', 'key "seed" is there twice'),
        (b'{"schema": 1, "seed": NaN}', "not a valid record"),
    ],
)
def test_a_file_that_is_no_sound_record_is_named(store: Store, content: bytes, says: str) -> None:
    file = store.folder / "strange.json"
    file.write_bytes(content)
    (error,) = store.read().errors
    assert re.search(f"{says}.*Delete it or move it away|{says}.*use what wrote it", str(error))
    assert str(file) in str(error)


def test_failures_are_remembered_and_the_last_reason_counts(store: Store, make_record: MakeRecord) -> None:
    first, second = make_record(0)[0], make_record(1)[0]
    store.add_failure(first, "out of memory")
    store.add_failure(first, "the loss is nan")
    store.add_failure(second, "killed")
    found = {run: failure.reason for run, failure in store.read().failures.items()}
    assert found == {first.run_id: "the loss is nan", second.run_id: "killed"}
    assert store.read().records == {}


def test_a_success_forgets_the_failure(store: Store, make_record: MakeRecord) -> None:
    record, ranks = make_record()
    store.add_failure(record, "killed")
    store.write(record, ranks)
    assert store.read().failures == {}


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--results"):
        Store(tmp_path / "file" / "results").require_writable()


WRITER = """
import sys
from pathlib import Path
from benchsuite.records.record_file import read_record
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
import numpy as np
first, folder = read_record(Path(sys.argv[1])), Path(sys.argv[2])
parts = {name: getattr(first, name) for name in
         ("method", "setup", "results", "cost", "digests", "environment", "created")}
curves = {"step": [*range(2000)], "loss": [0.5] * 2000}
for seed in range(1, 10**6):
    noise = np.random.default_rng(seed).integers(1, 9**9, 9999)
    content, ranks = pack_ranks(f"run-s{seed}", [("retrieval.i2t", noise)])
    Store(folder).write(Record.seal(seed=seed, curves=curves, ranks=ranks, **parts), content)
    print(seed, flush=True)
"""


@pytest.mark.parametrize("writes", [1, 4, 9])
def test_a_writer_killed_among_its_writes_leaves_only_whole_runs(
    store: Store, make_record: MakeRecord, tmp_path: Path, writes: int
) -> None:
    example, folder = store.write(*make_record()), tmp_path / "results"
    folder.mkdir()
    writer = subprocess.Popen([sys.executable, "-c", WRITER, example, folder], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(writes):
        assert writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL
    writer.stdout.close()
    found = Store(folder).read().records
    assert len(found) >= writes
    for record in found.values():
        assert hashlib.sha256((folder / record.ranks.file).read_bytes()).hexdigest() == record.ranks.sha256
    assert json.loads(example.read_text("utf-8"))["seed"] == 0


def test_a_kept_table_that_is_no_regular_file_is_named(store: Store, tmp_path: Path) -> None:
    table = tmp_path / "table1.toml"
    table.write_text("x = 1")
    (store.folder / "papers" / "mine" / "table1.toml").mkdir(parents=True)
    with pytest.raises(FileError, match=r"table1\.toml: it cannot be read \(no regular file\)"):
        store.keep("papers/mine/table1.toml", table)


def request(table: str) -> TableRequest:
    return TableRequest(table=table, scale="smoke", replicates=[0], rows=[], table_digest="t", recipe_digest="r")


def test_a_later_request_adds_rows_and_replicates_and_decides_all_else(store: Store) -> None:
    store.add_request(request("a/b").model_copy(update={"rows": ["x", "y"], "replicates": [0, 2]}))
    later = request("a/b").model_copy(update={"rows": ["z", "x"], "replicates": [1], "recipe_digest": "edited"})
    joined = later.model_copy(update={"rows": ["x", "y", "z"], "replicates": [0, 2, 1]})
    assert store.add_request(later) == joined
    assert store.read().requests == [joined]


@pytest.mark.parametrize(("first", "second"), [("a/b-c", "a-b/c"), ("a-b/c", "a/b-c")])
def test_two_tables_with_one_file_name_are_refused_and_the_first_stays(store: Store, first: str, second: str) -> None:
    assert store.add_request(request(first)) == request(first)
    with pytest.raises(UsageError, match=f"is the request of {first}: .* Rename {second}"):
        store.add_request(request(second))
    assert [stored.table for stored in store.read().requests] == [first]


def test_weights_move_from_the_runs_own_folder_to_the_kept_ones(store: Store, make_record: MakeRecord) -> None:
    for seed in (0, 1):
        record, ranks = make_record(seed, weights=Sidecar(file=f"s{seed}.safetensors", sha256="0"))
        own = folder_of(store.folder, record.run_id)
        own.mkdir(parents=True)
        (own / WEIGHTS_FILE).write_bytes(b"trained")
        store.write(record, ranks)
        assert not own.exists()
        store.write(record, ranks)  # another process stores the same run: its weights are there already
        assert (store.folder / "weights" / f"s{seed}.safetensors").read_bytes() == b"trained"
    assert len(list((store.folder / "weights").iterdir())) == 2


def test_a_record_is_not_stored_without_the_weights_that_it_names(store: Store, make_record: MakeRecord) -> None:
    record, ranks = make_record(weights=Sidecar(file="s0.safetensors", sha256="0"))
    with pytest.raises(UsageError, match="weights"):
        store.write(record, ranks)
    assert store.read().records == {}


def test_keeping_a_table_tells_whether_another_one_was_replaced(store: Store, tmp_path: Path) -> None:
    table, told = tmp_path / "mine.toml", []
    for text in ("x = 1", "x = 1", "x = 2"):
        table.write_text(text)
        told.append(store.keep("papers/mine/table1.toml", table))
        assert (store.folder / "papers" / "mine" / "table1.toml").read_text() == text
    assert told == [False, False, True]
