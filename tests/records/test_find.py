from pathlib import Path

import pytest
from support.made_records import MakeRecord

from benchsuite.errors import UsageError
from benchsuite.records.listing import find_run
from benchsuite.records.store import Store


def test_what_is_no_record_is_never_meant(tmp_path: Path, make_record: MakeRecord) -> None:
    record, ranks = make_record()
    Store(tmp_path).write(record, ranks)
    Store(tmp_path).add_failure(make_record(7)[0], "killed")
    (tmp_path / "MANIFEST.json").write_text("{}")
    for name in ("MANIFEST", "aaaa", "", "0" * 16):
        with pytest.raises(UsageError, match=rf'run "{name}" does not exist \(known: {record.run_id}\)'):
            find_run(tmp_path, name)


def test_a_beginning_of_two_runs_is_not_enough(tmp_path: Path) -> None:
    ids = "0123" + 12 * "a", "0145" + 12 * "b"
    for seed, run_id in enumerate(ids):
        (tmp_path / f"a-s{seed}-{run_id}.json").write_text("{}")
    with pytest.raises(UsageError, match=f"may be {ids[0]} or {ids[1]}"):
        find_run(tmp_path, "01")
    with pytest.raises(UsageError, match="--results"):
        find_run(tmp_path / "none", "01")
