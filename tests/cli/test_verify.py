import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.commands import exit_code

command = partial(exit_code, "verify")


@pytest.fixture
def folder(sound_folder: Callable[[int], Path]) -> Path:
    return sound_folder(2)


def test_sound_records_are_verified_with_what_that_cannot_prove(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(str(folder)) == 0
    told = capsys.readouterr().out
    assert "2 valid records, 22 numbers recomputed from their ranks" in told
    assert "\nverified.\n" in told
    assert "cannot check\n  that a run happened" in told


def test_a_folder_without_any_record_is_not_called_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(str(tmp_path)) == 0
    told = capsys.readouterr().out
    assert "\nnothing to verify: " in told
    assert "verified" not in told
    assert command("--results", str(tmp_path), "--json") == 0, "the folder of --results"
    assert json.loads(capsys.readouterr().out)["verified"] is False


def test_one_bad_record_is_exit_code_1_and_the_rest_is_still_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    next(folder.glob("infonce-s0-*.json")).write_text("{")
    assert command(str(folder)) == 1
    told = capsys.readouterr().out
    assert "1 valid record," in told
    assert "NOT verified: 1 problem." in told
    assert "truncated or not JSON" in told


def test_json_says_all_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    next(folder.glob("infonce-s0*.ranks.*")).unlink()
    assert command(str(folder), "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verified"] is False
    assert len(told["records"]) == 1
    assert set(told["problems"][0]) == {"file", "message", "fix"}
    assert told["cannot_check"]


def test_update_lists_records_and_then_finds_what_is_gone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(str(folder), "--update") == 0
    assert "MANIFEST.json: written: 2 added" in capsys.readouterr().out
    shutil.copy(folder / "MANIFEST.json", folder.parent / "base.json")
    for file in folder.glob("infonce-s0-*"):
        file.unlink()
    assert command(str(folder)) == 1
    assert command(str(folder), "--update") == 0
    assert ".json removed" in capsys.readouterr().out
    assert command(str(folder)) == 0
    assert command(str(folder), "--base", str(folder.parent / "base.json")) == 1
    assert "base.json, but gone" in capsys.readouterr().out


def test_a_manifest_is_not_updated_to_what_an_earlier_one_contradicts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(str(folder), "--update") == 0
    manifest = folder / "MANIFEST.json"
    before = manifest.read_bytes()
    shutil.copy(manifest, folder.parent / "base.json")
    for file in folder.glob("infonce-s0-*"):
        file.unlink()
    assert command(str(folder), "--update", "--base", str(folder.parent / "base.json")) == 1
    assert "MANIFEST.json: not updated" in capsys.readouterr().out
    assert manifest.read_bytes() == before


def test_a_second_laboratory_is_verified_with_the_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(folder, folder / "second")
    assert command(str(folder), "--update") == 0
    assert capsys.readouterr().out.count("MANIFEST.json: written: 2 added") == 2
    assert command(str(folder), "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["second"]["records"]) == 2
    next((folder / "second").glob("infonce-s0-*.json")).write_text("{")
    assert command(str(folder)) == 1
    assert "NOT verified" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none"], "none: no such file, and results folder runs does not exist"),
        (["none", "--update"], "none: no such folder. --update, --pack and --base need"),
        (["none", "--pack"], "none: no such folder. --update, --pack and --base need"),
        (["--base", "none.json"], "manifest none.json: no such file"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    folder: Path, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    given = arguments if "none" in arguments else ["results", *arguments]
    assert command(*given) == 2
    assert says in capsys.readouterr().err


def test_one_run_is_found_by_its_id_its_beginning_and_its_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = next(folder.glob("infonce-s0-*.json"))
    run_id = json.loads(file.read_text())["run_id"]
    for run in (run_id, run_id[:6], file.stem, str(file)):
        assert command(run, "--results", str(folder)) == 0
        told = capsys.readouterr().out
        assert told.startswith(f"{file}: 1 valid record, 11 numbers recomputed from their ranks\n")
        assert "manifest" not in told.partition("This cannot check")[0]
    file.write_text(file.read_text().replace('"seed": 0', '"seed": 1'))
    assert command(run_id, "--results", str(folder)) == 1
    told = capsys.readouterr().out
    assert "its setup, method and seed give" in told
    assert "NOT verified" in told
