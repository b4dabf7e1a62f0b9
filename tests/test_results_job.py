"""The scripts that guard committed results and list what changes, run as workflows run them, in a repository."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from support.git import commit, run
from support.git import repository as new_repository
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, fill

from benchsuite.records.schema import content_digest
from benchsuite.records.store import Store

ROOT = Path(__file__).parents[1]
SCRIPTS, WORKFLOWS = ROOT / ".ci", ROOT / ".github" / "workflows"
Done = "subprocess.CompletedProcess[str]"

pytestmark = [
    pytest.mark.skipif(not SCRIPTS.exists(), reason="needs a checkout: a source distribution has no CI files"),
    pytest.mark.slow,
]


@pytest.fixture
def repository(tmp_path: Path, make_sound: MakeRecord) -> Path:
    """A base commit with two listed records."""
    place = new_repository(tmp_path)
    (place / "results").mkdir()
    for seed in range(2):
        Store(place / "results").write(*make_sound(seed))
    update(place)
    commit(place)
    return place


def as_in(workflow: str, script: str, place: Path) -> Done:
    """Run the step that calls the script; the base branch's code is that of this checkout."""
    jobs = yaml.safe_load((WORKFLOWS / workflow).read_text("utf-8"))["jobs"].values()
    (text,) = [step["run"] for job in jobs for step in job["steps"] if script in step.get("run", "")]
    summary = {"GITHUB_STEP_SUMMARY": str(place.parent / "summary")}
    return run(place, "bash", "-e", "-c", re.sub(r"(\$RUNNER_TEMP/base/)?\.ci/", f"{SCRIPTS}/", text), **summary)


def checked(place: Path) -> Done:
    """The change is committed, and held against the commit before it, as the workflow of pull requests says."""
    commit(place)
    return as_in("results.yml", ".ci/results", place)


def pushed(place: Path, message: str = "Change") -> Done:
    """The change is committed, and held against all commits before it, as the workflow of the pages says."""
    commit(place, message)
    return as_in("pages.yml", ".ci/results", place)


def update(place: Path, *options: str) -> None:
    done = run(place, "benchsuite", "verify", "results", "--update", *options)
    assert done.returncode == 0, done.stdout


def record_file(place: Path, seed: int = 0) -> Path:
    return next((place / "results").glob(f"infonce-s{seed}-*.json"))


def remove(place: Path, seed: int = 0) -> None:
    record_file(place, seed).unlink()
    update(place)


def test_results_that_only_grow_pass(repository: Path, make_sound: MakeRecord) -> None:
    Store(repository / "results").write(*make_sound(7))
    update(repository)
    done = checked(repository)
    assert (done.returncode, "verified." in done.stdout) == (0, True), done.stdout


def test_a_record_that_is_not_listed_is_found(repository: Path, make_sound: MakeRecord) -> None:
    Store(repository / "results").write(*make_sound(7))
    assert checked(repository).returncode == 1


def test_a_record_that_is_removed_from_the_list_too_is_found(repository: Path) -> None:
    remove(repository)
    assert run(repository, "benchsuite", "verify", "results").returncode == 0
    done = checked(repository)
    assert (done.returncode, "but gone" in done.stdout) == (1, True)


def test_a_record_that_is_changed_sealed_and_listed_again_is_found(repository: Path) -> None:
    content = json.loads(record_file(repository).read_text())
    content["cost"]["seconds"] = 0.5
    content["digest"] = content_digest(content)
    record_file(repository).write_text(json.dumps(content))
    update(repository)
    done = checked(repository)
    assert (done.returncode, "another record than the one listed" in done.stdout) == (1, True)


def test_a_manifest_that_is_removed_is_found(repository: Path) -> None:
    (repository / "results" / "MANIFEST.json").unlink()
    done = checked(repository)
    assert (done.returncode, "MANIFEST.json is missing" in done.stderr) == (1, True)


def test_a_folder_without_records_has_nothing_to_lose_once_the_reason_is_given(repository: Path) -> None:
    shutil.rmtree(repository / "results")
    (repository / "results").mkdir()
    (repository / "results" / "README.md").write_text("x")
    assert pushed(repository).returncode == 1
    for message in ("Measure again\n\nResults-removed: another format", "Go on"):
        done = pushed(repository, message)
        assert (done.returncode, done.stderr) == (0, "")
        assert "no results here or before" in done.stdout


def test_a_removed_record_is_found_in_later_commits_too(repository: Path, make_sound: MakeRecord) -> None:
    remove(repository)
    assert pushed(repository).returncode == 1
    Store(repository / "results").write(*make_sound(7))
    update(repository)
    done = pushed(repository)
    assert done.returncode == 1
    assert done.stdout.count("but gone") == 1, "named once, whatever the number of manifests that list it"


def test_a_removal_whose_commit_gives_the_reason_passes_and_the_next_does_not(repository: Path) -> None:
    remove(repository)
    assert pushed(repository, "Measure again\n\nResults-removed:\n").returncode == 1, "no reason"
    assert pushed(repository, "Measure again\n\nResults-removed: a bug in seed 0").returncode == 0
    assert pushed(repository, "Look away").returncode == 0
    remove(repository, seed=1)
    assert pushed(repository).returncode == 1


def test_a_base_that_does_not_exist_and_a_clone_without_history_are_refused(repository: Path) -> None:
    done = run(repository, "bash", SCRIPTS / "results", "nonsense")
    assert (done.returncode != 0, "verified." in done.stdout) == (True, False)
    commit(repository)
    shallow = repository.parent / "shallow"
    run(repository.parent, "git", "clone", "-q", "--depth", "1", repository.as_uri(), shallow)
    assert as_in("pages.yml", ".ci/results", shallow).returncode == 2


def summary(place: Path) -> str:
    """What the job of pull requests says of the last commit."""
    (place.parent / "summary").unlink(missing_ok=True)
    done = as_in("results.yml", ".ci/changes", place)
    assert done.returncode == 0, done.stderr
    return (place.parent / "summary").read_text("utf-8")


def test_the_summary_holds_the_last_commit_against_the_one_before(tmp_path: Path, make_record: MakeRecord) -> None:
    place = new_repository(tmp_path)
    commit(place)
    for values, says in (
        ({"InfoNCE": LOW, "TeMo": LOW}, "added: temo/table1 at scale small\n"),
        ({"InfoNCE": LOW, "TeMo": HIGH}, "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1: not exercised -> reproduced"),
        ({}, "removed: temo/table1 at scale small\n"),
    ):
        shutil.rmtree(place / "results", ignore_errors=True)
        if values:
            fill(place / "results", make_record, values)
        commit(place)
        assert says in summary(place)
    commit(place)
    assert "results/ did not change" in summary(place)


def test_the_summary_names_files_that_cannot_be_used_and_is_no_markup(tmp_path: Path, make_record: MakeRecord) -> None:
    place = new_repository(tmp_path)
    commit(place)
    fill(place / "results", make_record, {"InfoNCE": LOW, "<b>\n```": LOW})
    next((place / "results").glob("infonce-s0-*.json")).write_text("{")
    commit(place)
    text = summary(place)
    assert "truncated or not JSON" in text
    assert [line for line in text.splitlines() if line and not line.startswith("    ")] == []
