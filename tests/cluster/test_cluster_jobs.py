"""What cluster jobs share with the command, as files and by name; jobs themselves are in tests/e2e/test_slurm.py."""

from pathlib import Path
from typing import Any

import pytest

from benchsuite.cluster.job import STUCK, queue_again
from benchsuite.cluster.jobs import ClusterFolder, Submitted, grouped, job_of, shortened
from benchsuite.cluster.options import ClusterOptions, Layout
from benchsuite.cluster.slurm import JobState
from benchsuite.errors import UsageError
from benchsuite.execution.events import Failed
from benchsuite.execution.measure import Measured
from benchsuite.execution.ticket import Status, Ticket, TicketFolder
from benchsuite.planning.plan import Run, plan_run
from benchsuite.records.schema import TunedBy
from benchsuite.records.store import Store


@pytest.fixture(scope="module")
def run() -> Run:
    return plan_run("infonce", "scenes-smoke", "RN50", 0, {})


def test_jobs_of_a_run_do_not_mix_and_the_last_one_removes_its_folder(tmp_path: Path, run: Run) -> None:
    cluster = ClusterFolder(tmp_path)
    first, second = cluster.run(run.run_id, "a"), cluster.run(run.run_id, "b")
    for folder in (first, second):
        folder.write(Ticket.of(run))
    assert cluster.jobs() == {}
    second.submit(Submitted(index=2))
    second.submit(Submitted(index=2, job="7_2"))
    (found,) = cluster.jobs().values()
    assert (found.folder, found.name, found.submitted) == (second.folder, "b", Submitted(index=2, job="7_2"))
    first.remove()
    assert second.ticket().opened() == run
    second.remove()
    assert not second.folder.parent.exists()


def test_what_a_job_left_of_a_stored_run_is_removed(tmp_path: Path, run: Run, make_sound: Any) -> None:
    record, ranks = make_sound()
    mine, other = run.model_copy(update={"run_id": record.run_id, "seed": record.seed}), run
    cluster = ClusterFolder(tmp_path)
    for each in (mine, other):
        cluster.run(each.run_id, "a").write(Ticket.of(each))
        cluster.run(each.run_id, "a").answer(Measured(record, ranks))
    Store(tmp_path).write(record, ranks)
    again = cluster.run(mine.run_id, "b")  # measured again, since a search found it that the record does not know
    again.write(Ticket.of(mine.model_copy(update={"tuned": TunedBy(trials=2, trial=0, score=0.5, digest="d")})))
    again.answer(Measured(record, ranks))
    cluster.forget_stored()
    assert not cluster.run(mine.run_id, "a").folder.exists()
    assert cluster.run(other.run_id, "a").answered
    assert again.answered


def test_a_damaged_file_of_a_job_is_named(tmp_path: Path, run: Run) -> None:
    folder = ClusterFolder(tmp_path).run(run.run_id, "a")
    folder.submit(Submitted(index=0))
    file = folder.folder / "job.json"
    file.write_text(file.read_text()[:10])
    with pytest.raises(UsageError, match=r"job\.json: .*cancel its jobs, delete it, and repeat the command"):
        _ = folder.submitted


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
    found = [job_of(f"benchsuite-{n}", Submitted(index=i), known) for n, i in [("a", 1), ("b", 0), ("b", 1)]]
    assert found == ["7_1", "8", None]
    assert job_of("benchsuite-c", Submitted(index=0), known) is None
    assert job_of("benchsuite-d", Submitted(index=0), known) is None


def test_an_id_that_slurm_gave_to_another_job_since_is_not_taken_for_ours() -> None:
    known = states(JobState("7", "RUNNING", "somebody"))
    assert job_of("benchsuite-a", Submitted(job="7", index=0), known) is None


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
        status = status.started_again().model_copy(update={"step": 10})
        assert (status.starts, status.furthest, status.stuck) == (number + 1, 10, number - 1)
    folder = TicketFolder(tmp_path)
    with pytest.raises(SystemExit):
        queue_again(folder, status, "Stopped by SIGUSR1.")
    outcome = folder.outcome(run)
    assert isinstance(outcome, Failed)
    assert "stopped 3 times after at most 10 steps" in outcome.reason
    assert status.model_copy(update={"step": 11}).started_again().stuck == 0
