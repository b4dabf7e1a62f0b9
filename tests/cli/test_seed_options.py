"""Which seeds `repro` runs."""

import json
from functools import partial
from pathlib import Path

import pytest
from support.commands import exit_code

from benchsuite.cli.shared.options import parse_seeds
from benchsuite.errors import UsageError
from benchsuite.records.schema import FIRST_SEED

plan = partial(exit_code, "repro", "temo/table1", "--scale", "smoke", "--rows", "RN50/TeMo", "--dry-run")


@pytest.mark.parametrize(("text", "seeds"), [(None, None), ("3", [0, 1, 2]), ("4,7", [4, 7])])
def test_seeds_are_a_number_or_a_list(text: str | None, seeds: list[int] | None) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "0", "-1", "4,", "4,4", "x"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="give how many"):
        parse_seeds(text)


def test_seeds_of_tuning_trials_are_refused() -> None:
    assert parse_seeds(f"0,{FIRST_SEED - 1}") == [0, FIRST_SEED - 1]
    with pytest.raises(UsageError, match="are those of tuning trials"):
        parse_seeds(f"0,{FIRST_SEED}")


def test_one_seed_is_exactly_that_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan("--seed", "2", "--json") == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["label"].endswith("seed 2")
    assert plan("--seed", "2", "--seeds", "3") == 2
    assert "--seed and --replicates exclude each other" in capsys.readouterr().err
