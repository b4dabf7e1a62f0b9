import getpass
import json
import platform
import subprocess
from pathlib import Path

import pytest
import torch

from benchsuite.records import environment as module
from benchsuite.records.environment import environment, named, source_commit


def test_versions_and_machine_are_told() -> None:
    told = environment("cpu", 1, 2)
    assert told["packages"]["torch"] == torch.__version__
    assert (told["python"], told["device"], told["threads"], told["processes"]) == (
        platform.python_version(),
        "cpu",
        1,
        2,
    )
    assert told["processor"]


def test_names_of_machines_and_folders_are_not_told() -> None:
    text = json.dumps(environment("cpu", 1, 1))
    assert str(Path.home()) not in text
    assert platform.node() not in text
    if len(getpass.getuser()) > 4:
        assert getpass.getuser() not in text


def test_a_package_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGES", ("no-such-package",))
    assert environment("cpu", 1, 1)["packages"] == {"no-such-package": None}


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / "benchsuite" / "records" / "environment.py"
    source.parent.mkdir(parents=True)
    source.write_text("")
    monkeypatch.setattr(module, "__file__", str(source))
    return tmp_path


def test_a_checkout_tells_its_commit_and_edits(checkout: Path) -> None:
    git(checkout, "init")
    git(checkout, "add", ".")
    git(checkout, "commit", "-m", "first")
    commit, dirty = source_commit()
    assert commit is not None
    assert (len(commit), dirty) == (40, False)
    (checkout / "untracked").write_text("")
    assert source_commit() == (commit, False)
    (checkout / "benchsuite" / "records" / "environment.py").write_text("edited")
    assert source_commit() == (commit, True)


def test_an_installed_package_has_no_commit(checkout: Path) -> None:
    assert source_commit() == (None, None)


def test_a_checkout_without_commits_or_without_git_has_no_commit(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(checkout, "init")
    assert source_commit() == (None, None)
    monkeypatch.setenv("PATH", "")
    assert source_commit() == (None, None)


def test_processors_of_one_name_that_round_differently_are_told_apart() -> None:
    """Virtual machines name several as one: a run done again on another is not wrong where its last digits are."""
    milan = {"model name": "AMD EPYC", "cpu family": "25", "model": "1", "flags": "sse avx avx2 fma"}
    genoa = {**milan, "model": "17", "flags": "sse avx avx2 avx512f"}
    assert named(milan) == "AMD EPYC (family 25, model 1, avx2)"
    assert named(genoa) == "AMD EPYC (family 25, model 17, avx512f)"
    assert named(milan | {"flags": "sse"}) == "AMD EPYC (family 25, model 1)"
    assert named({"Features": "fp asimd"}).endswith(" (asimd)")
    assert environment("cpu", 1, 1)["processor"]
