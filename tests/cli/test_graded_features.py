"""MM-TS's Table 2 on emoji with graded relevancy, by the command line itself; its trainings are shortened."""

import shutil
from pathlib import Path

import pytest
from support.commands import exit_code

from benchsuite.paths import baselines
from benchsuite.records.contents import read_contents

SMALL = ("--data", "emoji-features.test=60", "--data", "emoji-features.validation=40")


@pytest.mark.slow
def test_the_table_is_searched_trained_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None
) -> None:
    shutil.copytree(baselines(), tmp_path / "own")
    recipe = tmp_path / "own" / "recipes" / "emoji-features-graded.toml"
    recipe.write_text(recipe.read_text().replace("steps = 400", "steps = 60"))
    monkeypatch.setattr("benchsuite.folders.baselines", lambda: tmp_path / "own")
    monkeypatch.chdir(tmp_path)
    asked = ("--scale", "features", "--replicates", "1", "--regime", "tuned", "--trials", "2", *SMALL)
    assert exit_code("repro", "mm-ts/table2", *asked) == 0
    found = read_contents(Path("runs"))
    records = {record.method.name: record for record in found.records.values()}
    assert set(records) == {"max-margin", "mm-ts-margin"}
    for record in records.values():
        scores = record.results["multi-instance"]
        assert (scores.counts["v2t"], scores.counts["t2v"]) == (240, 60)
        assert scores.metrics["map"] > 0.15  # .08 by chance
        assert "clusters" in record.digests or record.method.name == "max-margin"
    trials = found.trials["emoji-features-graded"].trials
    drawn = {(trial.method.name, trial.method.hyperparameters.get("margin", 0)) for trial in trials}
    shifts = {trial.method.hyperparameters.get("shift_max") for trial in trials} - {None}
    assert (len(drawn), len(shifts)) == (2 + 1, 2), "margins are searched"
    assert exit_code("verify", "runs") == 0
