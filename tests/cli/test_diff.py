import json
from functools import partial
from pathlib import Path

import pytest
from support.commands import exit_code
from support.made_records import MakeRecord

from benchsuite.records.store import Store
from benchsuite.setup import Optimizer

command = partial(exit_code, "diff")


@pytest.fixture
def runs(tmp_path: Path, make_sound: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Run ids: a run, one of another method, and one under another setup."""
    monkeypatch.chdir(tmp_path)
    store = Store(tmp_path / "runs")
    store.require_writable()
    base = make_sound()[0]
    changes = {
        "base": {},
        "method": {"method": base.method.model_copy(update={"name": "ts", "hyperparameters": {"tau_max": 0.05}})},
        "setup": {"setup": base.setup.model_copy(update={"optimizer": Optimizer(lr=0.5)})},
    }
    run_ids = {}
    for name, change in changes.items():
        record, ranks = make_sound(**change)
        store.write(record, ranks)
        run_ids[name] = record.run_id
    return run_ids


def test_comparable_runs_are_exit_code_0_with_all_fields_named(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(runs["base"], runs["method"]) == 0
    output = capsys.readouterr().out
    assert 'name: "infonce" -> "ts"' in output
    assert "hyperparameters.tau: 0.03 -> absent" in output
    assert "setup: equal" in output
    assert "They may be paired" in output


def test_runs_of_two_setups_are_exit_code_1_and_the_field_is_named(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(runs["base"][:8], runs["setup"][:8]) == 1
    output = capsys.readouterr().out
    assert "optimizer.lr: 0.001 -> 0.5" in output
    assert "They may not share a board, nor be paired: their setups differ in optimizer.lr." in output
    assert output.count("differ in optimizer.lr") == 1


def test_json_says_the_same(runs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(runs["base"], runs["setup"], "--json") == 1
    output = json.loads(capsys.readouterr().out)
    assert output["fields"]["setup"] == {"optimizer.lr": [0.001, 0.5]}
    assert (output["comparable"], output["pairable"], output["repeated"]) == (False, False, False)
    assert output["a"]["run_id"] == runs["base"]
    assert command(runs["base"], runs["method"], "--json") == 0
    assert json.loads(capsys.readouterr().out)["pairable"] is True


def test_a_run_that_is_not_there_or_not_sound_is_named(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(runs["base"], "zzzz") == 2
    assert 'run "zzzz" does not exist' in capsys.readouterr().err
    file = next(Path("runs").glob(f"*{runs['setup']}.json"))
    file.write_text(file.read_text().replace('"lr": 0.5', '"lr": 0.001'))
    assert command(runs["base"], runs["setup"]) == 1
    assert f"{file}: the content is not what was sealed" in capsys.readouterr().err
