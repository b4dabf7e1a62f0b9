"""The job that guards committed results, run as the workflow runs it, in a repository of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from support.only_installed import run_with_only

from benchsuite.records.schema import Record, content_digest
from benchsuite.records.store import Store

ROOT = Path(__file__).parents[1]
JOB, WORKFLOWS = ROOT / ".ci" / "results", ROOT / ".github" / "workflows"
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


def commit(place: Path, message: str = "Change") -> None:
    run(place, "git", "add", "-A")
    done = run(place, "git", "commit", "--allow-empty", "-qm", message)
    assert done.returncode == 0, done.stderr


def job(place: Path) -> "subprocess.CompletedProcess[str]":
    """The change is committed, and held against the commit before it, as the workflow of pull requests says."""
    commit(place)
    return as_in("results.yml", place)


def push(place: Path, message: str = "Change") -> "subprocess.CompletedProcess[str]":
    """The change is committed, and held against all commits before it, as the workflow of the pages says."""
    commit(place, message)
    return as_in("pages.yml", place)


def as_in(workflow: str, place: Path) -> "subprocess.CompletedProcess[str]":
    """Run the job's step; the base branch's code is that of this checkout."""
    jobs = yaml.safe_load((WORKFLOWS / workflow).read_text("utf-8"))["jobs"].values()
    scripts = [step.get("run", "") for job in jobs for step in job["steps"]]
    (script,) = [script for script in scripts if ".ci/results" in script]
    return run(place, "bash", "-c", re.sub(r"(\$RUNNER_TEMP/base/)?\.ci/results", str(JOB), script))


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
    assert "no results here or before" in done.stdout


def remove(place: Path, seed: int = 0) -> None:
    next((place / "results").glob(f"infonce-s{seed}-*.json")).unlink()
    assert run(place, "benchsuite", "verify", "results", "--update", "--allow-removal").returncode == 0


def test_a_removed_record_is_found_in_later_commits_too(repository: Path, make_sound: Make) -> None:
    remove(repository)
    assert push(repository).returncode == 1
    Store(repository / "results").write(*make_sound(7))
    run(repository, "benchsuite", "verify", "results", "--update")
    done = push(repository)
    assert done.returncode == 1
    assert done.stdout.count("but gone") == 1, "named once, whatever the number of manifests that list it"


def test_a_removal_whose_commit_gives_the_reason_passes_and_the_next_does_not(repository: Path) -> None:
    remove(repository)
    assert push(repository, "Measure again\n\nResults-removed:\n").returncode == 1, "no reason"
    assert push(repository, "Measure again\n\nResults-removed: a bug in seed 0").returncode == 0
    assert push(repository, "Look away").returncode == 0
    remove(repository, seed=1)
    assert push(repository).returncode == 1


def test_a_base_that_does_not_exist_is_refused(repository: Path) -> None:
    done = run(repository, "bash", str(JOB), "nonsense")
    assert done.returncode != 0
    assert "verified." not in done.stdout


def test_a_clone_without_history_cannot_say_what_was_published(repository: Path) -> None:
    commit(repository)
    shallow = repository.parent / "shallow"
    run(repository.parent, "git", "clone", "-q", "--depth", "1", repository.as_uri(), str(shallow))
    done = as_in("pages.yml", shallow)
    assert done.returncode == 2
    assert "lacks the branch's history" in done.stderr


def test_the_job_installs_all_that_the_check_imports(repository: Path) -> None:
    (listed,) = re.findall(r"pip install -c constraints\.txt (.*)", (WORKFLOWS / "results.yml").read_text("utf-8"))
    done = run_with_only(listed, "verify", "results", folder=repository)
    assert done.returncode == 0, done.stderr
    short = run_with_only(listed.replace("platformdirs", ""), "verify", "results", folder=repository)
    assert "does not install platformdirs" in short.stderr
