"""A new leaderboard: its package is installed, and everything that its workflows run is run."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands import exit_code
from support.git import commit, repository, run
from support.places import LONG, Place

from benchsuite import __version__
from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

BOARD = "https://example.org/my-board"
SHOWN = Path(__file__).parents[2] / "docs" / "publish.md"


def workflow(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((folder / ".github" / "workflows" / name).read_text("utf-8"))
    return content


def scripts(folder: Path, name: str) -> Iterator[list[str]]:
    """The words of each line that the workflow's jobs run."""
    for job in workflow(folder, name)["jobs"].values():
        for step in job["steps"]:
            lines = step.get("run", "").replace("$GITHUB_SERVER_URL/$GITHUB_REPOSITORY", BOARD).splitlines()
            yield from map(shlex.split, lines)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A leaderboard whose package is installed."""
    base = tmp_path_factory.mktemp("board")
    Place(base).suite("new-leaderboard", "my-board", "--method", "my-loss")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(base / "packages")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "./my-board"], cwd=base, check=True)
    return Place(base / "my-board", base / "packages")


def test_all_that_its_workflows_run_succeeds_and_is_verified_and_shown_as_its_next_steps_say(board: Place) -> None:
    board.styled()
    ran = []
    for name in ("ci.yml", "pages.yml"):
        for program, *words in scripts(board.folder, name):
            ran.append(program)
            if program == "benchsuite":
                board.suite(*words)
            elif program == "pytest":
                assert "5 passed" in board.tests(*words)
            elif program == "pip":
                assert words[:3] == ["install", "-c", "constraints.txt"]
            else:
                assert program in ("bash", "ruff")
    assert (ran.count("benchsuite"), ran.count("bash")) == (3, 2)
    page = next((board.folder / "site").rglob("index.html")).read_text()
    assert "<h1>My board</h1>" in page
    assert f'href="{BOARD}"' in page
    board.suite("verify", "runs", "--update")
    board.suite("report", "--results", "runs", "--report", "two")
    assert "my_board/table1" in (board.folder / "two" / "index.html").read_text()


def test_its_check_of_results_finds_what_the_commit_before_listed(
    board: Place, tmp_path: Path, make_sound: Callable[..., Any]
) -> None:
    place = repository(tmp_path)
    for seed in range(2):
        Store(place / "results").write(*make_sound(seed))
    update = ("benchsuite", "verify", "results", "--update")
    check = ("bash", board.folder / ".ci" / "verify")
    assert run(place, *update).returncode == 0
    assert run(place, *check).returncode == 0, "there is no commit before"
    commit(place)
    commit(place)
    next((place / "results").glob("infonce-s0-*.json")).unlink()
    assert run(place, *update).returncode == 0
    commit(place)
    assert "but gone" in run(place, *check).stdout
    commit(place)
    assert run(place, *check).returncode == 0


def test_results_are_added_as_its_readme_says(board: Place) -> None:
    planned = ("--scale", "latents", "--regime", "printed", "--replicates", "1", "--dry-run")
    listed = board.suite("repro", "my_board/table1", *planned)
    assert "RN50 My loss: 1 replicate to do" in listed
    readme = (board.folder / "README.md").read_text()
    assert "benchsuite repro my_board/table1 --scale latents --results results" in readme
    assert f'"benchsuite=={__version__}"' in readme


def test_the_next_steps_lead_from_the_first_run_to_published_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code("new-leaderboard", "my-board", "--method", "my-loss") == 0
    steps = capsys.readouterr().out.partition("then:\n")[2]
    told = re.findall(r"^  (benchsuite .*)$", steps, re.M)
    assert [line.split()[1] for line in told] == ["check-method", "repro", "repro", "verify", "report"]
    assert "git add ." in steps
    assert "Source: GitHub Actions" in steps
    readme = Path("my-board", "README.md").read_text("utf-8")
    assert [line for line in told if line not in readme] == []
    (line,) = [line for line in readme.splitlines() if "checkout" in line]
    assert f"benchsuite=={__version__}" in line


def test_its_pages_workflow_is_the_one_of_the_docs(board: Place) -> None:
    found = re.search(r"```yaml\n(.*?)```", SHOWN.read_text("utf-8"), re.S)
    assert found is not None
    docs, own = yaml.safe_load(found[1])["jobs"], workflow(board.folder, "pages.yml")["jobs"]
    assert [step.get("uses") for step in own["build"]["steps"]] == [step.get("uses") for step in docs["build"]["steps"]]
    assert own["deploy"]["steps"] == docs["deploy"]["steps"]
    assert own["deploy"]["permissions"] == docs["deploy"]["permissions"]
    packages = [
        next(
            line.replace("-c constraints.txt ", "")
            for step in jobs["build"]["steps"]
            for line in step.get("run", "").splitlines()
            if "jinja2" in line
        )
        for jobs in (docs, own)
    ]
    assert packages[0] == packages[1]


def test_its_actions_are_pinned_and_only_the_deployment_may_write(board: Place) -> None:
    for name in ("ci.yml", "pages.yml"):
        content = workflow(board.folder, name)
        rights = {job: each.get("permissions", content["permissions"]) for job, each in content["jobs"].items()}
        assert {job for job, granted in rights.items() if "write" in granted.values()} <= {"deploy"}
        for job in content["jobs"].values():
            for step in job["steps"]:
                assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step.get("uses", f"actions/x@{'0' * 40}"))


def test_long_names_are_styled_too(tmp_path: Path) -> None:
    assert exit_code("new-leaderboard", tmp_path / LONG, "--method", LONG) == 0
    Place(tmp_path / LONG).styled()


def test_a_repository_may_exist_and_keeps_what_it_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "LICENSE").write_text("mine")
    assert exit_code("new-leaderboard", tmp_path / "board") == 0
    assert exit_code("new-leaderboard", tmp_path / "board") == 2
    assert "exists already, and nothing is overwritten" in capsys.readouterr().err
