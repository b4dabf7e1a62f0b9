"""Searches that come with benchsuite: `repro` trains what they chose, and `--tune` searches here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support import tiny_tuning
from support.commands import exit_code
from support.shipping import ship

from benchsuite.records.contents import read_contents

ROW = ("--rows", "mlp/TS", "--regime", "tuned")


@pytest.fixture
def repro(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None) -> Callable[..., int]:
    """The command on a table of one's own, in a folder whose searches of one row come with benchsuite."""
    monkeypatch.chdir(tmp_path)
    tiny_tuning.own_folder(tmp_path / "own")

    def command(results: str, *arguments: str) -> int:
        where = ("--tables", "own", "--scale", "latents", "--jobs", "1", "--results", results)
        return exit_code("repro", tiny_tuning.NAME, *where, *(arguments or ROW))

    assert command("elsewhere") == 0
    ship(tmp_path / "elsewhere", "vectors", tmp_path / "built-in", monkeypatch, records=False)
    return command


@pytest.mark.slow
def test_what_was_found_elsewhere_is_trained_here(
    repro: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert repro("here", *ROW, "--dry-run") == 0
    assert "4 runs, 4 to do, 6 trials come with benchsuite" in capsys.readouterr().out
    assert not Path("here").exists(), "a dry run leaves nothing"
    assert repro("here") == 0
    elsewhere, here = (read_contents(Path(folder)) for folder in ("elsewhere", "here"))
    assert here.trials == elsewhere.trials, "searched there, kept here"
    assert here.records.keys() == elsewhere.records.keys()
    assert not {one.digest for one in here.records.values()} & {one.digest for one in elsewhere.records.values()}
    assert exit_code("verify", "here", "--tables", "own") == 0


@pytest.mark.slow
def test_only_what_is_asked_for_comes(repro: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert repro("here", *ROW, "--replicates", "1", "--dry-run") == 0
    assert "3 trials come with benchsuite" in capsys.readouterr().out
    assert repro("here", *ROW, "--trials", "4", "--dry-run") == 0
    assert "2 trials first, 6 trials come with benchsuite" in capsys.readouterr().out
    recipe = Path("own/recipes/vectors.toml")
    recipe.write_text(recipe.read_text().replace('t2i_r10"\nprotocols', 't2i_r1"\nprotocols'))
    assert repro("here", *ROW, "--dry-run") == 0
    assert "6 trials first;" in capsys.readouterr().out, "by another rule they are none of its searches"


@pytest.mark.slow
def test_tune_searches_here(repro: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert repro("here", *ROW, "--tune") == 0
    told = capsys.readouterr()
    assert "6 trials first;" in told.out
    assert "trial 2  0 s  (6 of 6)" in re.sub(r"\d+ s ", "0 s ", told.err)
    assert repro("there") == 0
    assert repro("there", *ROW, "--tune") == 2
    assert "Give another --results FOLDER" in capsys.readouterr().err


@pytest.mark.slow
def test_runs_that_come_with_benchsuite_are_not_taken_for_ones_own(
    repro: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder in which `compare` stored them has them as runs; they are nobody's second measurement."""
    assert repro("here") == 0
    capsys.readouterr()
    assert repro("here", *ROW, "--dry-run") == 0
    assert "4 runs, 0 to do" in (own := capsys.readouterr().out)
    assert "come with benchsuite" not in own
    ship(Path("here"), "vectors", tmp_path / "built-in-too", monkeypatch)
    assert repro("here", *ROW, "--dry-run") == 0
    assert "4 runs, 0 to do, 4 stored that come with benchsuite" in capsys.readouterr().out
