import pytest

from benchsuite.execution.joining import first_host, launched

SRUN = {
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_NODELIST": "gpu[03-04]",
    "SLURM_JOB_ID": "812",
    "SLURM_STEP_ID": "2",
}


def test_torchrun_says_how_many() -> None:
    assert launched({}) == 1
    assert launched({"WORLD_SIZE": "8", "RANK": "2"}) == 8


def test_srun_is_understood_as_torchrun() -> None:
    environment = dict(SRUN)
    assert launched(environment) == 4
    joined = {name: environment[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR")}
    assert joined == {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "gpu03"}
    other = dict(SRUN, SLURM_PROCID="0")
    assert launched(other) == 4
    assert other["MASTER_PORT"] == environment["MASTER_PORT"]
    assert 1024 < int(other["MASTER_PORT"]) < 2**16


def test_a_batch_script_and_a_step_of_one_task_are_no_launchers() -> None:
    assert launched({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}) == 1
    assert launched(dict(SRUN, SLURM_STEP_NUM_TASKS="1")) == 1


def test_what_srun_was_told_is_kept() -> None:
    environment = dict(SRUN, MASTER_ADDR="10.0.0.7", MASTER_PORT="4321")
    launched(environment)
    assert (environment["MASTER_ADDR"], environment["MASTER_PORT"]) == ("10.0.0.7", "4321")


@pytest.mark.parametrize(
    ("nodes", "first"), [("a", "a"), ("a1,b2", "a1"), ("gpu[007-012,3],x", "gpu007"), ("r[1-2]n[3,4]", "r1n3")]
)
def test_the_first_host_of_a_list(nodes: str, first: str) -> None:
    assert first_host(nodes) == first
