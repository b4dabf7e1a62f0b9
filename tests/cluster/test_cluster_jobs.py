"""What cluster jobs share with the command, as files and by name; jobs themselves are in tests/e2e/test_slurm.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchsuite.cluster.files import ClusterFolder, Failure, RunFolder, Status, Submitted, Ticket
from benchsuite.cluster.job import STUCK, queue_again, started_again
from benchsuite.cluster.jobs import _job_of, grouped, shares, shortened
from benchsuite.cluster.options import ClusterOptions, Layout
from benchsuite.cluster.slurm import JobState
from benchsuite.errors import DivergedError, RunError, UsageError
from benchsuite.execution.events import Failed, Finished
from benchsuite.execution.measure import Measured
from benchsuite.planning.plan import Run, plan_run
from benchsuite.records.schema import Record, run_id
from benchsuite.records.store import Store


@pytest.fixture(scope="module")
def run() -> Run:
    return plan_run("infonce", "scenes-smoke", "RN50", 0, {})


def with_places(run: Run) -> Run:
    """Its data in a folder, and data of its own for one protocol."""
    data = run.setup.data.model_copy(update={"folder": "/data/a", "apart": {"texts": 2}, "paraphrases": "p" * 64})
    protocol = run.setup.protocols["retrieval"]
    own = protocol.model_copy(update={"data": run.setup.data.model_copy(update={"folder": "/data/b"})})
    protocols = {**run.setup.protocols, "retrieval": own}
    setup = run.setup.model_copy(update={"data": data, "protocols": protocols})
    identity = run_id(setup.setup_id, run.method.method_id, run.seed)
    return run.model_copy(update={"setup": setup, "run_id": identity})


def prepared(folder: Path, run: Run) -> RunFolder:
    place = RunFolder(folder / "runs" / run.run_id / "benchsuite-1")
    place.prepare(Ticket.of(run, ("/my/plugin.py",)))
    return place


def test_a_job_reads_the_run_as_it_was_planned_with_folders_that_its_setup_does_not_store(
    tmp_path: Path, run: Run
) -> None:
    planned = with_places(run)
    ticket = prepared(tmp_path, planned).ticket()
    assert ticket.plugins == ("/my/plugin.py",)
    assert ticket.opened() == planned
    assert ticket.opened().setup.data.place == planned.setup.data.place
    assert ticket.opened().setup.protocols["retrieval"].data == planned.setup.protocols["retrieval"].data


def test_a_ticket_that_is_not_its_run_is_refused(tmp_path: Path, run: Run) -> None:
    place = prepared(tmp_path, run)
    file = place.folder / "ticket.json"
    content = json.loads(file.read_text())
    content["run"]["setup"]["training"]["steps"] += 1
    file.write_text(json.dumps(content))
    with pytest.raises(RunError, match=f"not that of run {run.run_id}"):
        place.ticket().opened()


def of_record(run: Run, record: Record) -> Run:
    return run.model_copy(update={"run_id": record.run_id})


def test_a_record_comes_back_as_it_was_sealed(tmp_path: Path, run: Run, make_sound: Any) -> None:
    record, ranks = make_sound()
    mine = of_record(run, record)
    place = prepared(tmp_path, mine)
    assert place.outcome(mine) is None
    place.finish(Measured(record, ranks))
    assert place.outcome(mine) == Finished(mine, record, ranks)


@pytest.mark.parametrize("damage", ["ranks", "record", "other run", "no ranks"])
def test_what_a_job_left_is_checked(tmp_path: Path, run: Run, make_sound: Any, damage: str) -> None:
    record, ranks = make_sound()
    mine = of_record(run, record)
    place = prepared(tmp_path, mine)
    place.finish(Measured(record, ranks))
    file = place.folder / "record.json"
    if damage == "ranks":
        (place.folder / "ranks.npz").write_bytes(ranks[:-1])
    elif damage == "no ranks":
        (place.folder / "ranks.npz").unlink()
    elif damage == "record":
        file.write_text(file.read_text().replace('"seed": 0', '"seed": 1'))
    asked = run.model_copy(update={"run_id": "0" * 16}) if damage == "other run" else mine
    outcome = place.outcome(asked)
    assert isinstance(outcome, Failed)
    assert "what its job left cannot be read" in outcome.reason
    assert "\n" not in outcome.reason


def test_the_first_reason_of_a_failure_is_kept(tmp_path: Path, run: Run) -> None:
    place = prepared(tmp_path, run)
    place.fail(Failure(reason="the loss is nan at step 3", diverged=True))
    place.fail(Failure(reason="connection closed by peer"))
    assert place.outcome(run) == Failed(run, "the loss is nan at step 3", diverged=True)


def test_checkpoints_of_a_run_are_those_of_its_next_job_too(tmp_path: Path, run: Run) -> None:
    cluster = ClusterFolder(tmp_path)
    first, second = cluster.run(run.run_id, "a"), cluster.run(run.run_id, "b")
    for place in (first, second):
        place.prepare(Ticket.of(run, ()))
        assert place.checkpoints == tmp_path / "checkpoints" / run.run_id
    first.remove()
    assert second.ticket().opened() == run
    second.remove()
    assert not second.folder.parent.exists()


def test_what_a_job_left_of_a_stored_run_is_removed(tmp_path: Path, run: Run, make_sound: Any) -> None:
    record, ranks = make_sound()
    mine, other = of_record(run, record).model_copy(update={"seed": record.seed}), run
    cluster = ClusterFolder(tmp_path)
    for each in (mine, other):
        cluster.run(each.run_id, "a").prepare(Ticket.of(each, ()))
        cluster.run(each.run_id, "a").finish(Measured(record, ranks))
    Store(tmp_path).write(record, ranks)
    cluster.forget_stored()
    assert not cluster.run(mine.run_id, "a").folder.exists()
    assert cluster.run(other.run_id, "a").ended


def test_which_run_is_in_which_job_is_kept_even_if_submitting_fails(tmp_path: Path) -> None:
    cluster = ClusterFolder(tmp_path)
    submitted = Submitted(name="benchsuite-1", index=2)

    def fail() -> None:
        with cluster.changing() as jobs:
            jobs["a"] = submitted
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert cluster.jobs() == {"a": submitted}


def test_a_damaged_state_file_is_named(tmp_path: Path) -> None:
    cluster = ClusterFolder(tmp_path)
    with cluster.changing():
        pass
    file = tmp_path / "cluster" / "jobs.json"
    file.write_text(file.read_text()[:10])
    with pytest.raises(UsageError, match=r"jobs\.json: .*cancel its jobs, delete it, and repeat the command"):
        cluster.jobs()


def states(*jobs: JobState) -> dict[str, JobState]:
    return {job.job: job for job in jobs}


def test_a_job_is_found_by_its_unique_name_if_the_answer_was_never_written() -> None:
    known = states(
        JobState("7_0", "RUNNING", "benchsuite-a"),
        JobState("7_1", "PENDING", "benchsuite-a"),
        JobState("7_11", "PENDING", "benchsuite-a"),
        JobState("8", "RUNNING", "benchsuite-b"),
        JobState("9_0", "COMPLETED", "benchsuite-c"),
    )
    found = [_job_of(Submitted(name=f"benchsuite-{n}", index=i), known) for n, i in [("a", 1), ("b", 0), ("b", 1)]]
    assert found == ["7_1", "8", None]
    assert _job_of(Submitted(name="benchsuite-c", index=0), known) is None
    assert _job_of(Submitted(name="benchsuite-d", index=0), known) is None


def test_an_id_that_slurm_gave_to_another_job_since_is_not_taken_for_ours() -> None:
    known = states(JobState("7", "RUNNING", "somebody"))
    assert _job_of(Submitted(job="7", name="benchsuite-a", index=0), known) is None


@pytest.mark.parametrize(
    ("total", "sizes", "expected"),
    [
        (None, [3, 2], [None, None]),
        (8, [30], [8]),
        (4, [30, 10], [3, 1]),
        (2, [5, 5, 5], [1, 1]),
        (1, [5, 5], [1]),
        (4, [], []),
    ],
)
def test_never_more_jobs_at_a_time_than_asked_for(total: int | None, sizes: list[int], expected: list[int]) -> None:
    assert shares(total, sizes) == expected


def test_arrays_hold_runs_of_one_layout_and_no_more_than_slurm_allows(run: Run) -> None:
    def spread(processes: int, seed: int) -> Run:
        training = run.setup.training.model_copy(update={"processes": processes})
        return run.model_copy(
            update={"setup": run.setup.model_copy(update={"training": training}), "seed": seed, "run_id": f"{seed}"}
        )

    runs = [spread(1 + seed % 2, seed) for seed in range(5)]
    arrays = grouped(runs, ClusterOptions(gpus_per_node=1), 2)
    shape = [(layout, [run.seed for run in same]) for layout, same in arrays]
    assert shape == [(Layout(1, 1), [0, 2]), (Layout(1, 1), [4]), (Layout(2, 1), [1, 3])]


def test_job_ids_are_shortened_as_scancel_reads_them() -> None:
    assert shortened(["7_0", "7_2", "9", "8_1"]) == ["7_[0,2]", "9", "8_[1]"]


def test_a_job_that_gets_no_further_is_not_queued_again_for_ever(tmp_path: Path, run: Run) -> None:
    status = Status(step=10)
    for number in range(1, STUCK + 1):
        status = started_again(status).model_copy(update={"step": 10})
        assert (status.starts, status.furthest, status.stuck) == (number + 1, 10, number - 1)
    place = prepared(tmp_path, run)
    with pytest.raises(SystemExit):
        queue_again(place, status, "Stopped by SIGUSR1.")
    outcome = place.outcome(run)
    assert isinstance(outcome, Failed)
    assert "stopped 3 times after at most 10 steps" in outcome.reason
    assert started_again(status.model_copy(update={"step": 11})).stuck == 0


def test_diverging_is_no_failure_of_the_code(tmp_path: Path, run: Run) -> None:
    assert issubclass(DivergedError, RunError)
    place = prepared(tmp_path, run)
    place.fail(Failure(reason="nan", diverged=True))
    outcome = place.outcome(run)
    assert isinstance(outcome, Failed)
    assert outcome.diverged
