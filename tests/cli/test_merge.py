"""Two results folders become one, on the real command line."""

from functools import partial
from pathlib import Path

import pytest
from support import tiny_tuning
from support.commands import exit_code
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, fill

from benchsuite.analysis.results import load_table
from benchsuite.records.contents import read_contents

command = partial(exit_code, "merge")
REPRO = ("repro", tiny_tuning.NAME, "--scale", "latents", "--tables", "own", "--jobs", "1", "--keep-weights")


@pytest.fixture
def folders(tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two results folders of four replicates each, of which two are in both; TeMo is in the second alone."""
    monkeypatch.chdir(tmp_path)
    fill(Path("ours"), make_record, {"InfoNCE": LOW})
    return Path("ours"), fill(Path("theirs"), make_record, {"InfoNCE": LOW, "TeMo": HIGH}, first=2)


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_replicates_of_two_folders_are_those_of_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], in_process: None
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_tuning.own_folder(Path("own"))
    for results, replicates in (("a", "1"), ("b", "1,2"), ("whole", "3")):
        assert exit_code(*REPRO, "--results", results, "--replicates", replicates) == 0
    gone = next(Path("b/weights").iterdir())
    gone.unlink()
    there, added = files(Path("b")), read_contents(Path("b"))
    capsys.readouterr()
    assert command("b", "--results", "a") == 0
    counts = f"{len(added.records)} runs and {len(added.trials['vectors'].trials)} trials"
    assert capsys.readouterr().out == f"a: {counts} added, for 1 table\n"
    assert files(Path("b")) == there

    merged, whole = read_contents(Path("a")), read_contents(Path("whole"))
    assert merged.records.keys() == whole.records.keys()
    for run, record in merged.records.items():
        assert record.results == whole.records[run].results
        assert record.tuned == whole.records[run].tuned
    kept, every = ({file.name.split(".")[0] for file in Path(folder, "weights").iterdir()} for folder in ("a", "whole"))
    assert kept == every - {gone.name.split(".")[0]}
    scores = [{trial.run_id: trial.score for trial in one.trials["vectors"].trials} for one in (merged, whole)]
    assert scores[0] == scores[1]
    assert load_table(tiny_tuning.NAME, results="a").equals(load_table(tiny_tuning.NAME, results="whole"))
    assert exit_code("verify", "a", "--update") == 0
    assert exit_code("verify", "a") == 0
    assert exit_code(*REPRO, "--results", "a", "--replicates", "3", "--dry-run") == 0
    assert ", 0 to do" in capsys.readouterr().out


def test_what_both_have_stays_and_the_table_has_the_rows_and_replicates_of_both(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = folders
    before = files(ours)
    assert command(theirs, "--results", ours) == 0
    assert capsys.readouterr().out == "ours: 6 runs and 0 trials added, for 1 table; 2 runs of both stay as in ours\n"
    after = files(ours)
    assert {name: after[name] for name in before if not name.startswith("tables")}.items() <= before.items()
    (request,) = read_contents(ours).requests
    assert request.replicates == [0, 1, 2, 3, 4, 5]
    assert command(theirs, "--results", ours) == 0
    assert "ours: 0 runs and 0 trials added" in capsys.readouterr().out
    assert files(ours) == after


def test_a_folder_that_is_not_there_yet_becomes_a_copy(folders: tuple[Path, Path]) -> None:
    assert command(folders[1], "--results", "new") == 0
    assert files(Path("new")) == files(folders[1])


def test_nothing_is_added_of_a_folder_with_an_invalid_file(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = folders
    broken = next(theirs.glob("temo-*.json"))
    broken.write_text(broken.read_text().replace("0.3", "0.9", 1))
    before = files(ours)
    assert command(theirs, "--results", ours) == 2
    told = capsys.readouterr().err
    assert "theirs has invalid files; nothing was added." in told
    assert broken.name in told
    assert files(ours) == before


def test_two_tables_of_one_name_are_refused(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = folders
    for folder, title in ((ours, "My method"), (theirs, "Another")):
        file = folder / f"papers/{tiny_tuning.NAME}.toml"
        file.parent.mkdir(parents=True)
        file.write_text(tiny_tuning.TABLE.replace("My method", title))
    before = files(ours)
    assert command(theirs, "--results", ours) == 2
    assert f"{ours}/papers/{tiny_tuning.NAME}.toml and {theirs}/papers/{tiny_tuning.NAME}.toml differ." in (
        capsys.readouterr().err
    )
    assert files(ours) == before


@pytest.mark.parametrize(("name", "told"), [("absent", "does not exist"), ("ours", "is --results itself")])
def test_a_folder_that_cannot_be_added_is_named(
    name: str, told: str, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(name, "--results", folders[0]) == 2
    assert told in capsys.readouterr().err
