"""Two searches that draw the same: a table fixes all that a method declares, so both regimes search the rate alone."""

from collections import Counter
from pathlib import Path

import pytest
from support import tiny_tuning
from support.commands import exit_code

from benchsuite.records.contents import read_contents
from benchsuite.records.schema import searches_of

COMMAND = ("repro", tiny_tuning.NAME, "--scale", "latents", "--tables", "own", "--jobs", "1", "--replicates", "2")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None) -> Path:
    """A folder whose table fixes all that its method declares."""
    monkeypatch.chdir(tmp_path)
    folder = tiny_tuning.own_folder(tmp_path / "own")
    table = folder / "papers" / f"{tiny_tuning.NAME}.toml"
    table.write_text(
        table.read_text().replace("[[columns]]", 'printed = ["tau_min", "tau_max", "periods"]\n[[columns]]', 1)
    )
    return folder


@pytest.mark.slow
def test_trials_that_both_regimes_draw_are_trained_once_and_are_of_both(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = own / "recipes" / "vectors.toml"
    recipe.write_text(recipe.read_text().replace("trials = 3", "trials = 3\nprinted_trials = 2"))

    assert exit_code(*COMMAND, "--rows", "mlp/TS") == 0
    assert "trial 2" in (told := capsys.readouterr().err)
    assert "(6 of 6)" in told, "three trials in each of two replicates, not five"
    results = read_contents(tmp_path / "runs")
    trials = results.trials["vectors"].trials
    assert Counter((one.regime, one.replicate) for one in trials) == {
        ("tuned", 0): 3, ("tuned", 1): 3, ("printed", 0): 2, ("printed", 1): 2,
    }  # fmt: skip
    searches = {count for record in results.records.values() for count, _ in searches_of(record)}
    assert searches == {2, 3}, "each regime has chosen among its own number"
    assert exit_code("verify", "runs", "--tables", "own") == 0


@pytest.mark.slow
def test_what_one_regime_has_searched_serves_the_other(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("--rows", "mlp/TS", "--trials", "2")
    assert exit_code(*COMMAND, *rows, "--regime", "tuned") == 0
    capsys.readouterr()
    assert exit_code(*COMMAND, *rows, "--regime", "printed") == 0
    assert "trial" not in capsys.readouterr().err
    trials = read_contents(tmp_path / "runs").trials["vectors"].trials
    assert Counter(one.regime for one in trials) == {"tuned": 4, "printed": 4}
    assert exit_code("verify", "runs", "--tables", "own") == 0
