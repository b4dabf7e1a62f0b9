import pytest
from support.commands import exit_code


@pytest.fixture(params=[{"WORLD_SIZE": "2", "RANK": "1"}, {"SLURM_STEP_NUM_TASKS": "2"}])
def launched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torchrun and srun start this process."""
    srun = {"SLURM_PROCID": "1", "SLURM_LOCALID": "1", "SLURM_STEP_NODELIST": "a", "SLURM_JOB_ID": "7"}
    for name in ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name, value in {**srun, **request.param}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("command", [["repro", "temo/table1"], ["tune", "infonce"]])
def test_commands_that_start_processes_are_started_once(
    launched: None, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*command) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"benchsuite: 2 processes of `benchsuite {command[0]}` were started by torchrun or srun.")


@pytest.mark.parametrize("option", [["--devices", 2], ["--dry-run"]])
def test_processes_from_outside_are_as_many_as_they_are(
    launched: None, option: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("run", "infonce", *option) == 2
    assert f"{option[0]}: torchrun or srun has started the processes already" in capsys.readouterr().err
