import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.copies import in_a_copy, mount
from support.html_pages import leaderboard
from support.made_records import MakeRecord

from benchsuite import workers
from benchsuite.errors import RecordError
from benchsuite.records.record_file import FileError
from benchsuite.report.site import write_site
from benchsuite.workers import FEW, processors, spread

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers, whatever this machine has."""
    monkeypatch.setattr(workers, "processors", lambda: 2)


def test_results_come_in_order_from_other_processes(two: None) -> None:
    found = list(spread(lambda thing: (thing, os.getpid()), range(FEW)))
    assert [thing for thing, _ in found] == list(range(FEW))
    assert os.getpid() not in {process for _, process in found}


def test_much_work_is_spread_from_fewer_items_on(two: None) -> None:
    assert os.getpid() not in set(spread(lambda _: os.getpid(), range(3), few=3))
    assert set(spread(lambda _: os.getpid(), range(2), few=3)) == {os.getpid()}


@pytest.mark.parametrize(("things", "count"), [(FEW - 1, 2), (FEW, 1)])
def test_little_work_and_one_processor_need_no_other_process(
    monkeypatch: pytest.MonkeyPatch, things: int, count: int
) -> None:
    monkeypatch.setattr(workers, "processors", lambda: count)
    assert set(spread(lambda _: os.getpid(), range(things))) == {os.getpid()}


def test_processors_are_those_that_this_process_may_use() -> None:
    assert processors() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("tables/7 links to nowhere"), "'tables/7 links to nowhere'"),
        (RecordError("row 7: no bins."), "row 7: no bins."),
        (FileError(Path("7.npz"), "not an .npz file of arrays", ""), "7.npz: not an .npz file of arrays."),
    ],
)
def test_what_goes_wrong_in_a_worker_is_the_same_error_here(two: None, error: Exception, said: str) -> None:
    def work(thing: int) -> int:
        if thing == 7:
            raise error
        return thing

    with pytest.raises(type(error)) as caught:
        list(spread(work, range(FEW)))
    assert str(caught.value) == said


def test_workers_end_when_their_process_is_killed() -> None:
    code = """
import os, time
from benchsuite import workers
workers.processors = lambda: 2
def work(thing):
    os.write(1, f"{os.getpid()}\\n".encode())  # at once: two lines of two processes stay apart
    time.sleep(0.5)
list(workers.spread(work, range(1000)))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = {int(process.stdout.readline())}
        while len(found) < 2:
            found.add(int(process.stdout.readline()))
        process.kill()
        process.communicate(timeout=60)  # returns when none is left that could write
    assert process.pid not in found


def test_a_site_is_the_same_whoever_makes_its_pages(
    two: None, tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = leaderboard(records=[make_record(seed)[0] for seed in range(9)])
    write_site(tmp_path / "alone", board)
    monkeypatch.setattr(workers, "FEW", 2)
    write_site(tmp_path / "together", board)
    alone, together = (
        {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        for folder in (tmp_path / "alone", tmp_path / "together")
    )
    assert alone == together


def test_without_shared_memory_all_is_done_in_this_process(two: None) -> None:
    """Processes wait for each other in /dev/shm, which some containers lack."""

    def work() -> set[int]:
        mount(Path("/dev/shm"), "size=4k,ro")
        return {*spread(lambda _: os.getpid(), range(FEW)), -os.getpid()}

    process = in_a_copy(work)
    assert len(process) == 2
    assert sum(process) == 0
