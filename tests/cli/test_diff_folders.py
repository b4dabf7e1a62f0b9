import json
from functools import partial
from pathlib import Path

import pytest
from support.commands import exit_code
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, fill

command = partial(exit_code, "diff")


@pytest.fixture
def folders(tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two results folders, side by side: TeMo beats InfoNCE in the second alone."""
    monkeypatch.chdir(tmp_path)
    before, after = Path("before"), Path("after")
    fill(before, make_record, {"InfoNCE": LOW, "TeMo": LOW})
    return before, fill(after, make_record, {"InfoNCE": LOW, "TeMo": HIGH})


def test_folders_that_do_not_agree_are_exit_code_1(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*folders) == 1
    output = capsys.readouterr().out
    assert "before  before: 8 records, 1 table\nafter   after: 8 records, 1 table\n" in output
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1: not exercised -> reproduced" in output


def test_the_same_is_printed_as_data(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*folders, "--json") == 1
    output = json.loads(capsys.readouterr().out)
    (table,) = output["tables"]
    assert (output["agrees"], table["table"], table["agrees"]) == (False, "temo/table1", False)
    assert [cell["how"] for cell in table["cells"]] == ["equal", "equal", "outside", "outside"]


def test_a_folder_agrees_with_its_copy(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(folders[0], folders[0]) == 0
    output = capsys.readouterr().out
    assert "records: equal\ntemo/table1 at scale small: agrees\n" in output
    assert "equal in every digit; 8 are the same record, not trained again\n" in output
    assert "->" not in output


def test_runs_that_came_with_benchsuite_are_counted(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were trained elsewhere: that they are equal is no second measurement here."""
    one = json.loads(next(folders[1].glob("temo-s0-*.json")).read_text())["digest"]
    monkeypatch.setattr("benchsuite.verify.agreement.shipped_digests", lambda: frozenset({one}))
    command(*folders)
    assert "; 1 run came with benchsuite\n" in capsys.readouterr().out
    command(*folders, "--json")
    assert [table["shipped"] for table in json.loads(capsys.readouterr().out)["tables"]] == [1]


def test_an_empty_folder_is_one_without_results_yet(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    assert command("empty", folders[1]) == 1
    output = capsys.readouterr().out
    assert "before  empty: 0 records, 0 tables" in output
    assert "tables: 1 added\n  added: temo/table1 at scale small\n" in output


@pytest.mark.parametrize("swapped", [False, True])
def test_a_folder_that_is_not_there_is_exit_code_2(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str], swapped: bool
) -> None:
    names = [Path("nowhere"), folders[0]]
    assert command(*(reversed(names) if swapped else names)) == 2
    assert "results folder nowhere does not exist" in capsys.readouterr().err


def test_a_run_is_not_compared_with_a_folder(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    file = next(folders[0].glob("infonce-*.json"))
    assert command(file, folders[1]) == 2
    assert "is a file. Give two results folders" in capsys.readouterr().err


def test_files_that_cannot_be_used_are_named_with_exit_code_1_and_the_rest_is_shown(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = folders
    next(before.glob("infonce-s0-*.json")).write_text("{")
    (after / "tables" / "other.json").write_text("[]")
    request = json.loads((after / "tables" / "temo-table1-small.json").read_text())
    (after / "tables" / "temo-table99-small.json").write_text(json.dumps({**request, "table": "temo/table99"}))
    (after / "tables" / "copy.json").write_text(json.dumps(request))
    assert command(before, after) == 1
    output = capsys.readouterr().out
    assert "1 table\n  skipped: infonce-s0-" in output
    assert "truncated or not JSON" in output
    assert "  skipped: tables/copy.json: the request of temo/table1 at small stands in" in output
    assert "  skipped: tables/other.json: not what is stored here but a list" in output
    assert '  skipped: table "temo/table99" does not exist' in output
    assert "RN50/TeMo, MSCOCO IR@1:" in output
    assert command(before, before, "--json") == 1, "although it agrees"
    assert "infonce-s0-" in capsys.readouterr().out
