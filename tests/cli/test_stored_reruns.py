"""Stored second trainings, as `verify`, pages and exports show them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.attested import TRAINED_THERE, attest, list_unchecked
from support.commands import exit_code
from support.edited import edit
from support.measured import HIGH, LOW, fill
from support.signing import REPOSITORY, RUN, Sigstore

from benchsuite.records.record_file import read_record
from benchsuite.records.reruns import Rerun, write_rerun
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

Make = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def runs(tmp_path: Path, make_sound: Make) -> Path:
    """A record of a commit, with a second training that gave the same."""
    file = Store(tmp_path / "runs").write(*make_sound(0, environment={**TRAINED_THERE, "benchsuite": "1"}))
    record = read_record(file)
    write_rerun(tmp_path / "runs", Rerun.of(record, record))
    return tmp_path / "runs"


def stored_in(runs: Path) -> Path:
    (found,) = (runs / "reruns").iterdir()
    return found


def test_one_that_gave_the_same_is_counted(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("verify", runs) == 0
    assert "verified by a stored second training: 1 of 1 valid records" in capsys.readouterr().out
    assert exit_code("verify", runs, "--json") == 0
    (name,) = json.loads(capsys.readouterr().out)["trained_again"]
    assert name.startswith("infonce-s0-")


def test_one_that_differs_is_a_problem(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(stored_in(runs), lambda content: content["numbers"].update({"retrieval.t2i_r1": 0.999}), sealed=True)
    assert exit_code("verify", runs) == 1
    told = capsys.readouterr().out
    assert f"reruns/{stored_in(runs).name}: run again: 1 of its numbers differ" in told
    assert "stored second training" not in told


def test_a_damaged_one_is_a_problem_and_keeps_the_manifest_from_being_written(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored_in(runs).write_text("{")
    assert exit_code("verify", runs, "--update") == 1
    assert f"reruns/{stored_in(runs).name}: " in capsys.readouterr().out
    assert not (runs / "MANIFEST.json").exists()


def test_storing_needs_a_second_training(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("verify", runs, "--store") == 2
    assert "--store goes with --rerun" in capsys.readouterr().err


@pytest.fixture
def results(tmp_path: Path, make_record: Make, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of two rows: all runs of the first are attested, one of the second was trained again."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    code = {**TRAINED_THERE, "benchsuite": "1"}

    def make(*arguments: int, **changes: object) -> tuple[Record, bytes]:
        return make_record(*arguments, **{"environment": code, **changes})

    sigstore, folder = Sigstore(), tmp_path / "results"
    (tmp_path / "root.json").write_text(sigstore.root())
    fill(folder, make, {"InfoNCE": LOW, "TeMo": HIGH})
    for file in folder.glob("infonce-*.json"):
        Store(tmp_path / "theirs").write(record := read_record(file), (folder / record.ranks.file).read_bytes())
    list_unchecked(tmp_path / "theirs")
    attest(tmp_path / "theirs", sigstore)
    (tmp_path / "theirs" / "attestations").rename(folder / "attestations")
    again = read_record(next(folder.glob("temo-*.json")))
    write_rerun(folder, Rerun.of(again, again))
    return folder


def trusting(results: Path) -> list[object]:
    return ["--results", results, "--repository", REPOSITORY, "--trusted-root", results.parent / "root.json"]


def test_a_page_says_what_speaks_for_each_row(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("report", *trusting(results), "--report", results.parent / "site") == 0
    page = (results.parent / "site" / "tables" / "temo-table1-small.html").read_text()
    assert f"attested by <a href={RUN}>workflow run</a>" in page
    assert "consistent (1 of 4 verified)" in page
    assert "not verified" not in capsys.readouterr().err


def test_without_trust_nothing_is_attested_and_the_command_says_so(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("report", "--results", results, "--report", results.parent / "site") == 0
    page = (results.parent / "site" / "tables" / "temo-table1-small.html").read_text()
    assert RUN not in page
    assert "attested by" not in page
    assert "attestations: not verified; name whose workflow you trust with --repository" in capsys.readouterr().err


def test_a_false_attestation_is_named_and_ends_with_1(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    next((results / "attestations").glob("*.sigstore.json")).write_text("{}")
    assert exit_code("report", *trusting(results), "--report", results.parent / "site") == 1
    assert "first.sigstore.json: not a valid attestation" in capsys.readouterr().err
    assert RUN not in (results.parent / "site" / "tables" / "temo-table1-small.html").read_text()


def test_exports_say_it_too(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("export", "temo/table1", "--format", "json", *trusting(results)) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert {(cell["row"], cell["vouched"]) for cell in cells if cell["n"]} == {
        ("InfoNCE", "attested"),
        ("TeMo", "consistent (1 of 4 verified)"),
    }
    assert exit_code("export", "--all", *trusting(results)) == 0
    told = capsys.readouterr().out
    assert (told.count(",attested,"), told.count(",verified,")) == (8, 2)


def test_a_trusted_root_needs_a_repository(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("report", "--results", results, "--trusted-root", "root.json") == 2
    assert "--trusted-root goes with --repository" in capsys.readouterr().err
