"""Options of commands for clusters; what needs one is in tests/e2e/test_slurm.py."""

import sys
from pathlib import Path

import pytest
from support.commands import exit_code

from benchsuite.cli.shared.terminal import say
from benchsuite.execution.events import Queued, Started, Stepped
from benchsuite.planning.plan import plan_run
from benchsuite.work.session import Lines

RUN = ["run", "infonce", "--recipe", "scenes-smoke"]


@pytest.mark.parametrize("option", [["--cluster-option", "partition=gpu"], ["--cluster-options", "cluster.toml"]])
def test_options_of_a_cluster_without_one_are_refused(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*RUN, *option) == 2
    assert capsys.readouterr().err == f"benchsuite: {option[0]} is for jobs of a cluster: add --cluster slurm.\n"


@pytest.mark.parametrize("command", [["repro", "temo/table1"], ["tune", "infonce"]])
def test_jobs_of_this_machine_and_of_a_cluster_exclude_each_other(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*command, "--max-jobs", "2") == 2
    assert "--max-jobs is for jobs of a cluster" in capsys.readouterr().err
    assert exit_code(*command, "--cluster", "slurm", "--jobs", "2") == 2
    assert "with --cluster give --max-jobs" in capsys.readouterr().err


def test_a_machine_without_slurm_says_where_to_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert exit_code(*RUN, "--cluster", "slurm") == 2
    assert "sbatch, squeue, srun not found. Call it where jobs can be submitted" in capsys.readouterr().err


def test_without_submitit_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    assert exit_code(*RUN, "--cluster", "slurm") == 2
    told = "--cluster slurm needs the package submitit. Install it: pip install 'benchsuite[slurm]'."
    assert capsys.readouterr().err == f"benchsuite: {told}\n"


def test_lines_name_the_job_why_it_may_never_start_and_after_a_while_the_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {})
    lines = Lines(1, say)
    for event in (Queued(run, "7_0"), Queued(run, "7_0", "PartitionNodeLimit"), Started(run), Stepped(run, 1)):
        lines.show(event)
    monkeypatch.setattr("benchsuite.work.session.STEPS_EVERY", -1)
    lines.show(Stepped(run, 3))
    assert capsys.readouterr().err.splitlines() == [
        f"queue  {run.label}  job 7_0",
        f"queue  {run.label}  job 7_0 waits: PartitionNodeLimit",
        f"start  {run.label}",
        f"step   {run.label}  3 of {run.steps}",
    ]
