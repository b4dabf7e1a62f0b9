"""A group's events, from what its processes send; the processes are played by the test."""

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.execution import group as groups
from benchsuite.execution.events import Failed, Finished, Started, Stepped
from benchsuite.execution.group import Group
from benchsuite.execution.launch import Death
from benchsuite.execution.launch import Started as Processes
from benchsuite.execution.measure import Measured
from benchsuite.execution.worker import Began, Broke, Ended, Reached

RUN: Any = "a run"
RECORD: Any = "a record"
MEASURED = Ended(Measured(RECORD, b"ranks"))


class Played:
    """A group with a run, and the ends of the pipes that its processes would have."""

    def __init__(self, count: int, code: int = 0) -> None:
        pipes = [multiprocessing.Pipe() for _ in range(count)]
        self.members = [theirs for _, theirs in pipes]
        report, self.launcher = multiprocessing.Pipe(duplex=False) if count > 1 else (None, None)
        keeper: Any = SimpleNamespace(join=lambda timeout=None: None, exitcode=code)
        logs = [Path(f"rank-{rank}.log") for rank in range(count)]
        self.group = Group(0, Processes(keeper, [ours for ours, _ in pipes], report), [*logs, Path("launcher.log")])
        self.group.take(RUN)
        assert [member.recv() for member in self.members] == [RUN] * count

    def after(self, *messages: tuple[int, Any]) -> list[Any]:
        for rank, message in messages:
            self.members[rank].send(message)
        return list(self.group.hear())

    def reports(self, death: Death) -> list[Any]:
        assert isinstance(self.launcher, Connection)
        self.launcher.send(death)
        return list(self.group.hear())


def test_a_run_of_two_begins_and_ends_once() -> None:
    played = Played(2)
    assert played.after((1, Began(1)), (0, Began(2))) == [Started(RUN)]
    assert played.after((1, Ended(None))) == []
    assert played.after((0, MEASURED)) == [Finished(RUN, RECORD, b"ranks")]
    assert (played.group.run, played.group.broken) == (None, False)


def test_the_step_of_a_run_is_that_of_its_slowest_process() -> None:
    played = Played(2)
    assert played.after((0, Reached(1)), (0, Reached(2))) == []
    assert played.after((1, Reached(1))) == [Stepped(RUN, 1)]
    assert played.after((0, Reached(3)), (1, Reached(2))) == [Stepped(RUN, 2)]


def test_a_failure_that_all_processes_meet_is_told_once_and_the_group_goes_on() -> None:
    played = Played(2)
    assert played.after((1, Broke("the loss is nan", diverged=True))) == []
    (failed,) = played.after((0, Broke("the loss is nan", diverged=True)))
    assert failed == Failed(RUN, "the loss is nan", diverged=True)
    assert not played.group.broken
    played.group.take(RUN)
    assert played.after((0, MEASURED), (1, Ended(None)))[-1] == Finished(RUN, RECORD, b"ranks")


def test_a_failure_of_one_ends_the_group_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "GRACE_SECONDS", -1)
    played = Played(3)
    assert played.group.deadline is None
    (failed,) = played.after((1, Broke("no space left")))
    assert failed == Failed(RUN, "process of rank 1: no space left")
    assert played.group.broken


def test_a_death_is_told_rather_than_the_lost_contact_of_the_others() -> None:
    played = Played(3)
    assert played.after((0, Broke("closed by peer", lost=True)), (2, Broke("closed by peer", lost=True))) == []
    (failed,) = played.reports(Death(1, -9))
    assert failed.reason == (
        "its process of rank 1 died (killed by signal 9); see rank-1.log. The run's other processes were ended."
    )
    assert played.group.broken


def test_processes_that_all_wait_in_vain_say_so_with_a_log() -> None:
    played = Played(2)
    (failed,) = played.after((0, Broke("no answer", lost=True)), (1, Broke("no answer", lost=True)))
    assert failed.reason == "process of rank 0: no answer; see rank-0.log"
    assert played.group.broken


def test_a_death_while_nothing_runs_is_found_by_the_next_run() -> None:
    played = Played(2)
    played.after((0, MEASURED), (1, Ended(None)))
    assert played.reports(Death(0, 3)) == []
    played.group.take(RUN)
    (failed,) = played.group.hear()
    assert "process of rank 0 died (exit code 3)" in failed.reason


def test_a_launcher_that_dies_is_named() -> None:
    played = Played(2, code=-9)
    assert isinstance(played.launcher, Connection)
    played.launcher.close()
    (failed,) = played.group.hear()
    assert failed.reason == "the launcher of its processes died (killed by signal 9); see launcher.log"


@pytest.mark.parametrize(("code", "how"), [(-9, "killed by signal 9"), (3, "exit code 3")])
def test_a_worker_that_died_fails_its_run_and_says_how(code: int, how: str) -> None:
    played = Played(1, code)
    played.members[0].close()
    (failed,) = played.group.hear()
    assert failed == Failed(RUN, f"its worker process died ({how}); see rank-0.log")
    assert played.group.broken


def test_what_nccl_wrote_before_it_gave_up_is_explained(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    assert groups.timed_out(log) == ""
    log.write_text("[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)\n")
    assert groups.timed_out(log) == ", because another process did not answer in time"
