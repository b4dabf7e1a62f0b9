"""`benchsuite verify --provenance`: which records a workflow run trained."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.attested import TRAINED_THERE, attest, listed
from support.commands import exit_code
from support.signing import REPOSITORY, RUN, Sigstore

from benchsuite.records.names import ATTESTATIONS, BUNDLE
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

Make = Callable[..., tuple[Record, bytes]]
Asked = Callable[..., int]


@pytest.fixture
def folder(tmp_path: Path, make_sound: Make) -> Path:
    """Two records, the first of them attested."""
    sigstore = Sigstore()
    (tmp_path / "root.json").write_text(sigstore.root())
    Store(tmp_path / "results").write(*make_sound(0, environment=TRAINED_THERE))
    listed(tmp_path / "results")
    attest(tmp_path / "results", sigstore)
    Store(tmp_path / "results").write(*make_sound(1))
    listed(tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)

    def ask(*more: object) -> int:
        return exit_code("verify", folder, "--provenance", "--trusted-root", folder.parent / "root.json", *more)

    return ask


def test_attested_records_are_counted_and_named(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("--repository", REPOSITORY) == 0
    assert "attested: 1 of 2 valid records" in capsys.readouterr().out
    assert asked("--repository", REPOSITORY, "--json") == 0
    (run,) = json.loads(capsys.readouterr().out)["attested"].items()
    assert run[0].startswith("infonce-s0-")
    assert run[1] == RUN


def test_without_the_option_nothing_is_said_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("verify", folder, "--json") == 0
    assert json.loads(capsys.readouterr().out)["attested"] is None
    assert exit_code("verify", folder) == 0
    assert "attested" not in capsys.readouterr().out


def test_a_false_attestation_is_exit_code_1(folder: Path, asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ATTESTATIONS / f"first{BUNDLE}").write_text("{}")
    assert asked("--repository", REPOSITORY) == 1
    told = capsys.readouterr().out
    assert "attested: 0 of 2 valid records" in told
    assert "attestations/first.sigstore.json: not a valid attestation" in told


def test_a_workflow_trusts_its_own_repository(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked() == 2
    monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
    assert asked() == 0


def test_options_without_the_one_that_uses_them_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("verify", folder, "--trusted-root", "root.json") == 2
    assert "--trusted-root goes with --provenance" in capsys.readouterr().err
    record = next(folder.glob("infonce-s0-*.json"))
    assert exit_code("verify", record, "--provenance", "--repository", REPOSITORY) == 2
    assert "need a results folder" in capsys.readouterr().err


def test_the_missing_library_is_named_with_what_installs_it(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "sigstore"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sigstore", None)
    assert asked("--repository", REPOSITORY) == 2
    assert "pip install 'benchsuite[provenance]'" in capsys.readouterr().err
