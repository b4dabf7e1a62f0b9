"""The job that guards committed results, run as the workflow runs it, in a repository of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from only_installed import run_with_only

from benchsuite.records.schema import Record, content_digest
from benchsuite.records.store import Store

ROOT = Path(__file__).parents[1]
JOB, WORKFLOW = ROOT / ".ci" / "results", ROOT / ".github" / "workflows" / "results.yml"
Make = Callable[..., tuple[Record, bytes]]

pytestmark = pytest.mark.skipif(not JOB.exists(), reason="needs a checkout: a source distribution has no CI files")


@pytest.fixture
def repository(tmp_path: Path, make_sound: Make) -> Path:
    """A base commit with two listed records; commands go through a `benchsuite` of this interpreter."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "benchsuite"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m benchsuite "$@"\n')
    command.chmod(0o755)
    place = tmp_path / "repository"
    (place / "results").mkdir(parents=True)
    run(place, "git", "init", "-q")
    for seed in range(2):
        Store(place / "results").write(*make_sound(seed))
    run(place, "benchsuite", "verify", "results", "--update")
    commit(place)
    return place


def run(place: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    who = {f"GIT_{role}_{what}": "x@y" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    path = f"{place.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, **who, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(command, cwd=place, env=settings, capture_output=True, text=True, check=False)


def commit(place: Path) -> None:
    run(place, "git", "add", "-A")
    done = run(place, "git", "commit", "-qm", "Change")
    assert done.returncode == 0, done.stderr


def job(place: Path) -> "subprocess.CompletedProcess[str]":
    """The change is committed, and held against the commit before it, as the workflow says."""
    commit(place)
    (told,) = re.findall(r"run: (\.ci/results .*)", WORKFLOW.read_text("utf-8"))
    return run(place, "bash", "-c", told.replace(".ci/results", str(JOB)))


def first(place: Path) -> Path:
    return next((place / "results").glob("infonce-s0-*.json"))


def test_an_added_and_listed_record_passes(repository: Path, make_sound: Make) -> None:
    Store(repository / "results").write(*make_sound(7))
    run(repository, "benchsuite", "verify", "results", "--update")
    done = job(repository)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verified." in done.stdout


def test_an_added_record_must_be_listed(repository: Path, make_sound: Make) -> None:
    Store(repository / "results").write(*make_sound(7))
    done = job(repository)
    assert done.returncode == 1
    assert "not listed in MANIFEST.json" in done.stdout


def test_a_record_that_is_removed_with_its_entry_is_found(repository: Path) -> None:
    first(repository).unlink()
    assert run(repository, "benchsuite", "verify", "results", "--update", "--allow-removal").returncode == 0
    assert run(repository, "benchsuite", "verify", "results").returncode == 0
    done = job(repository)
    assert done.returncode == 1
    assert "but gone" in done.stdout


def test_a_record_that_is_changed_sealed_and_listed_again_is_found(repository: Path) -> None:
    content = json.loads(first(repository).read_text())
    content["cost"]["seconds"] = 0.5
    content["digest"] = content_digest(content)
    first(repository).write_text(json.dumps(content))
    assert run(repository, "benchsuite", "verify", "results", "--update", "--allow-removal").returncode == 0
    done = job(repository)
    assert done.returncode == 1
    assert "another record than the one listed" in done.stdout


def test_a_manifest_that_is_removed_is_found(repository: Path) -> None:
    (repository / "results" / "MANIFEST.json").unlink()
    done = job(repository)
    assert done.returncode == 1
    assert "MANIFEST.json is missing" in done.stderr


def test_a_branch_without_results_has_nothing_to_lose(repository: Path) -> None:
    for file in (repository / "results").iterdir():
        file.unlink()
    (repository / "results").rmdir()
    (repository / "README.md").write_text("x")
    assert job(repository).returncode == 1
    (repository / "README.md").write_text("y")
    done = job(repository)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no results here or at HEAD^1" in done.stdout


def test_the_job_installs_all_that_the_check_imports(repository: Path) -> None:
    (listed,) = re.findall(r"pip install -c constraints\.txt (.*)", WORKFLOW.read_text("utf-8"))
    done = run_with_only(listed, "verify", "results", folder=repository)
    assert done.returncode == 0, done.stderr
    short = run_with_only(listed.replace("platformdirs", ""), "verify", "results", folder=repository)
    assert "does not install platformdirs" in short.stderr
