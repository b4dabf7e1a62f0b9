"""Measurements of speed: ratios, aims, what counts as slower, and files that were edited."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchsuite.records.benchmarks import (
    Benchmark,
    Measurement,
    Timed,
    comparable,
    slower,
    write_measurement,
)
from benchsuite.records.contents import read_contents
from benchsuite.verify.audit import audit_folder


def benchmark(ours: tuple[float, ...], peer: tuple[float, ...], name: str = "knn", **more: object) -> Benchmark:
    timed = (Timed(by="benchsuite", seconds=ours, megabytes=100.0), Timed(by="sklearn", seconds=peer, megabytes=None))
    return Benchmark.model_validate({"name": name, "what": "k 200", "timed": timed, **more})


def measurement(*benchmarks: Benchmark, created: str = "2026-01-02T00:00:00+00:00", **more: object) -> Measurement:
    environment = {
        "processor": "a processor",
        "threads": 1,
        "commit": None,
        "benchsuite": "0",
        "packages": {"torch": "2"},
    }
    given = {"created": created, "size": "full", "environment": environment, "cores": 2, "load": 0.0}
    return Measurement.seal(**{**given, "benchmarks": benchmarks, **more})


def test_a_ratio_is_the_peers_median_over_ours() -> None:
    found = benchmark((1.0, 2.0, 30.0), (8.0, 6.0, 7.0))
    assert found.ratio(found.peers[0]) == 3.5
    assert found.ratios(found.peers[0]) == [8.0, 3.0, 7.0 / 30]


def test_each_aim_that_is_missed_is_named() -> None:
    kept = benchmark((1.0,), (5.0,), aims={"sklearn": 5.0}, most_seconds=1.0, most_megabytes=100.0)
    assert kept.missed() == []
    missed = benchmark((1.1,), (5.0,), aims={"sklearn": 5.0}, most_seconds=1.0, most_megabytes=99.0)
    assert missed.missed() == [
        "benchsuite, at most 1 s",
        "benchsuite, at most 99 MB",
        "sklearn, at least 5 times",
    ]


def test_slower_is_a_ratio_below_all_earlier_ones() -> None:
    before = measurement(benchmark((1.0, 1.0, 1.0), (5.0, 6.0, 7.0)))
    for seconds, found in (
        ((1.0, 1.0, 1.0), []),
        ((1.05, 1.05, 1.05), []),
        ((1.3, 1.3, 0.9), []),  # one turn is as fast as before
        ((1.5, 1.5, 1.5), [("knn", "sklearn", 6.0, 4.0)]),
    ):
        now = measurement(benchmark(seconds, (6.0, 6.0, 6.0)))
        changes = slower(now, before)
        assert [(each.name, each.peer, each.before, each.now) for each in changes] == found


def test_small_steps_are_not_called_slower_however_little_they_scatter() -> None:
    before = measurement(benchmark((1.0,), (6.0,)))
    assert not slower(measurement(benchmark((1.05,), (6.0,))), before)


def test_other_work_under_the_same_name_is_not_compared() -> None:
    before = measurement(benchmark((1.0,), (6.0,)))
    assert not slower(measurement(benchmark((9.0,), (6.0,), what="k 20")), before)
    assert not slower(measurement(benchmark((9.0,), (6.0,), name="probe")), before)


def test_the_latest_of_the_same_machine_is_compared() -> None:
    old, new = (measurement(created=f"2026-01-0{day}T00:00:00+00:00") for day in (1, 2))
    other = measurement(created="2026-01-03T00:00:00+00:00", size="small")
    now = measurement(created="2026-01-04T00:00:00+00:00")
    assert comparable([old, new, other, now], now) == new
    assert comparable([other], now) is None


def test_stored_and_read_again_and_part_of_the_manifest(tmp_path: Path) -> None:
    stored = measurement(benchmark((1.0,), (6.0,)))
    path = write_measurement(tmp_path, stored)
    assert read_contents(tmp_path).measurements == [stored]
    assert [*audit_folder(tmp_path, {}).files] == [path.relative_to(tmp_path).as_posix()]


def test_edited_seconds_are_refused(tmp_path: Path) -> None:
    path = write_measurement(tmp_path, measurement(benchmark((1.0,), (6.0,))))
    content = json.loads(path.read_text())
    content["benchmarks"][0]["timed"][0]["seconds"] = [0.5]
    path.write_text(json.dumps(content))
    (error,) = read_contents(tmp_path).unreadable
    assert "edited" in str(error)
    assert "tox -e bench" in str(error)


@given(st.text(max_size=40))
def test_any_other_file_is_named(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "benchmarks" / "2026.json"
        file.parent.mkdir()
        file.write_text(text, "utf-8", errors="replace")
        (error,) = read_contents(Path(name)).unreadable
        assert "2026.json" in str(error)
