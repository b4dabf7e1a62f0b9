"""Tickets: what is written is what is read, events follow from the files, and a death is told with its cause."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.errors import DivergedError, Interrupted, RunError
from benchsuite.execution import attempt as attempts
from benchsuite.execution import pool as groups
from benchsuite.execution.attempt import Reporter, attempt, failure_of
from benchsuite.execution.events import Failed, Finished, Noted, Started, Stepped
from benchsuite.execution.measure import Measured
from benchsuite.execution.pool import Group
from benchsuite.execution.ticket import Failure, Status, Ticket, TicketFolder, Watched
from benchsuite.execution.worker import Desk, timed_out
from benchsuite.planning.plan import Run, plan_run
from benchsuite.records.checkpoints import Saving
from benchsuite.records.schema import Record, run_id

Sealed = tuple[Run, Record, bytes]


@pytest.fixture(scope="module")
def run() -> Run:
    return plan_run("infonce", "scenes-smoke", "RN50", 0, {})


@pytest.fixture
def folder(tmp_path: Path, run: Run) -> TicketFolder:
    made = TicketFolder(tmp_path / "ticket")
    made.write(Ticket.of(run, (Path("/my/plugin.py"),), Saving(tmp_path)))
    return made


@pytest.fixture
def sealed(run: Run, make_sound: Any) -> Sealed:
    record, ranks = make_sound()
    return run.model_copy(update={"run_id": record.run_id}), record, ranks


def test_a_run_is_read_as_it_was_planned_with_folders_that_its_setup_does_not_store(tmp_path: Path, run: Run) -> None:
    data = run.setup.data.model_copy(update={"folder": "/data/a", "apart": {"texts": 2}, "paraphrases": "p" * 64})
    protocol = run.setup.protocols["retrieval"]
    own = protocol.model_copy(update={"data": run.setup.data.model_copy(update={"folder": "/data/b"})})
    setup = run.setup.model_copy(update={"data": data, "protocols": {**run.setup.protocols, "retrieval": own}})
    identity = run_id(setup.setup_id, run.method.method_id, run.seed)
    planned = run.model_copy(update={"setup": setup, "run_id": identity})
    folder = TicketFolder(tmp_path / "ticket")
    folder.write(Ticket.of(planned, (Path("/my/plugin.py"),), Saving(tmp_path)))
    read = folder.ticket()
    assert (read.plugins, read.checkpoints) == ((Path("/my/plugin.py"),), tmp_path / "checkpoints" / identity)
    assert read.opened() == planned
    assert read.opened().setup.data.place == data.place
    assert read.opened().setup.protocols["retrieval"].data == own.data


def test_a_ticket_that_is_not_its_run_is_refused(folder: TicketFolder, run: Run) -> None:
    file = folder.folder / "ticket.json"
    content = json.loads(file.read_text())
    content["run"]["setup"]["training"]["steps"] += 1
    file.write_text(json.dumps(content))
    with pytest.raises(RunError, match=f"not that of run {run.run_id}"):
        folder.ticket().opened()
    file.write_text(file.read_text()[:10])
    end = attempt(folder, Reporter(folder))
    assert isinstance(end, Failure)
    assert str(file) in end.reason


def test_a_record_comes_back_as_it_was_sealed(folder: TicketFolder, sealed: Sealed) -> None:
    run, record, ranks = sealed
    assert folder.outcome(run) is None
    folder.answer(Measured(record, ranks))
    assert folder.outcome(run) == Finished(run, record, ranks)


@pytest.mark.parametrize("damage", ["ranks", "record", "other run", "no ranks"])
def test_an_answer_is_checked(folder: TicketFolder, run: Run, sealed: Sealed, damage: str) -> None:
    mine, record, ranks = sealed
    folder.answer(Measured(record, ranks))
    file = folder.folder / "record.json"
    if damage == "ranks":
        (folder.folder / "ranks").write_bytes(ranks[:-1])
    elif damage == "no ranks":
        (folder.folder / "ranks").unlink()
    elif damage == "record":
        file.write_text(file.read_text().replace('"seed": 0', '"seed": 1'))
    outcome = folder.outcome(run if damage == "other run" else mine)
    assert isinstance(outcome, Failed)
    assert "cannot be read" in outcome.reason
    assert "\n" not in outcome.reason


def test_the_first_reason_of_a_failure_is_kept(folder: TicketFolder, run: Run) -> None:
    folder.answer(failure_of(DivergedError("the loss is nan at step 3")))
    folder.answer(Failure(reason="connection closed by peer"))
    assert folder.outcome(run) == Failed(run, "the loss is nan at step 3", diverged=True)


def test_a_failure_of_one_process_names_it_and_what_all_meet_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    assert failure_of(RunError("no space left")).reason == "process of rank 1: no space left"
    assert failure_of(DivergedError("the loss is nan")) == Failure(reason="the loss is nan", diverged=True)
    assert failure_of(Interrupted("stopped")) == Failure(reason="stopped", interrupted=True)
    lost = failure_of(RuntimeError("[gloo/pair.cc] Connection closed by peer"))
    assert lost.lost
    assert lost.reason.startswith("process of rank 1: contact with another process was lost")


def test_a_fault_is_located_and_has_its_traceback() -> None:
    try:
        _ = [][1]
    except IndexError as error:
        failure = failure_of(error)
    assert failure.reason.startswith("IndexError: list index out of range (test_tickets.py, line ")
    assert "IndexError" in failure.traceback.splitlines()[-1]
    assert not failure.lost


def test_steps_and_notes_are_told_once_and_the_end_last(
    folder: TicketFolder, sealed: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "REPORT_SECONDS", -1.0)
    run, record, ranks = sealed
    watched = Watched(run, folder)
    assert list(watched.look()) == []
    reporter = Reporter(folder)
    assert list(watched.look()) == [Started(run)]
    reporter.noted("goes on from step 3")
    reporter.noted("no space for a checkpoint")
    reporter.stepped(4)
    told = [Noted(run, "goes on from step 3"), Noted(run, "no space for a checkpoint"), Stepped(run, 4)]
    assert list(watched.look()) == told
    assert list(watched.look()) == []
    reporter.stepped(5)
    folder.answer(Measured(record, ranks))
    assert list(watched.look()) == [Stepped(run, 5), Finished(run, record, ranks)]


def test_a_start_knows_how_far_earlier_ones_came(folder: TicketFolder) -> None:
    folder.report(Status(step=10, notes=("said",)))
    assert Reporter(folder).status == Status(starts=2, furthest=10, notes=("said",))
    assert Reporter(folder).status == Status(starts=3, furthest=10, stuck=1, notes=("said",))


class Played:
    """The process of a group, played by the test."""

    exitcode: int | None = None

    def __init__(self, target: object = None, args: object = None) -> None:
        self.start = lambda: None

    def is_alive(self) -> bool:
        return self.exitcode is None


@pytest.fixture(params=[1, 3], ids=["alone", "two with a launcher"])
def group(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Group:
    """One that has taken a run; it has a log for each process, and one for the launcher of two."""
    monkeypatch.setattr(groups.multiprocessing, "get_context", lambda kind: SimpleNamespace(Process=Played))
    made = Group(0, Desk(tmp_path, 1, {}, [Path(f"{number}.log") for number in range(request.param)]))
    made.take(Ticket.of(run))
    return made


def several(group: Group) -> bool:
    return group._desk.processes > 1


def test_after_a_failure_a_single_process_goes_on_and_several_do_not(group: Group, run: Run) -> None:
    group._desk.last.answer(Failure(reason="a fault"))
    assert list(group.look()) == [Failed(run, "a fault")]
    assert (group.run, group.broken) == (None, several(group))


def test_after_an_interrupted_run_a_group_is_at_its_end(group: Group, run: Run) -> None:
    group._desk.last.answer(Failure(reason="stopped", interrupted=True))
    assert list(group.look()) == [Failed(run, "stopped", interrupted=True)]
    assert group.broken


@pytest.mark.parametrize(("code", "how"), [(-9, "killed by signal 9"), (3, "exit code 3")])
def test_a_death_fails_the_run_and_says_how(group: Group, run: Run, code: int, how: str) -> None:
    assert list(group.look()) == []
    group.process.exitcode = code  # type: ignore[misc]
    what, log = ("the launcher of its processes", "2.log") if several(group) else ("its worker process", "0.log")
    assert list(group.look()) == [Failed(run, f"{what} died ({how}); see {log}")]
    assert group.broken


def test_what_a_process_answered_before_it_died_counts(group: Group, run: Run) -> None:
    group._desk.last.answer(Failure(reason="its process of rank 1 died"))
    group.process.exitcode = 1  # type: ignore[misc]
    assert list(group.look()) == [Failed(run, "its process of rank 1 died")]
    assert group.broken


def test_a_death_while_nothing_runs_is_seen(group: Group) -> None:
    group._desk.last.answer(Failure(reason="diverged", diverged=True))
    list(group.look())
    group.process.exitcode = -9  # type: ignore[misc]
    assert list(group.look()) == []
    assert group.broken


def test_a_desk_hands_out_one_ticket_after_another_until_it_is_closed(tmp_path: Path, run: Run) -> None:
    desk = Desk(tmp_path, 1, {}, [tmp_path / "log"])
    for number in range(11):
        desk.ticket(number).write(Ticket.of(run))
    assert all(desk.awaits(number) for number in range(11))
    assert desk.last.folder == tmp_path / "10"
    desk.close()
    assert not desk.awaits(11)


def test_what_nccl_wrote_before_it_gave_up_is_explained(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    assert timed_out(log) == ""
    log.write_text("[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)\n")
    assert timed_out(log) == ", because another process did not answer in time"
