"""What a pull request changes on the pages: run_ids out as results.yml does it, and posted as comment.yml does it."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.measured import HIGH, LOW, fill

from benchsuite.records.schema import Record

ROOT = Path(__file__).parents[1]
JOB, WORKFLOWS = ROOT / ".ci" / "changes", ROOT / ".github" / "workflows"
MARK = "<!-- benchsuite: changed cells -->"
HEAD = "c0ffee" * 6 + "c0de"
Make = Callable[..., tuple[Record, bytes]]

pytestmark = pytest.mark.skipif(not JOB.exists(), reason="needs a checkout: a source distribution has no CI files")
MISSING = [name for name in ("jq", "unzip", "iconv") if not shutil.which(name)]
posting = pytest.mark.skipif(bool(MISSING), reason=f"needs what the platform's machines have: {', '.join(MISSING)}")


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def run(place: Path, *command: str | Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    who = {f"GIT_{role}_{what}": "x@y" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    path = f"{place.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **who, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull, **settings}
    return subprocess.run(
        list(map(str, command)), cwd=place, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit without results; commands go through a `benchsuite` of this interpreter."""
    program(tmp_path / "bin", "benchsuite", f'#!/bin/sh\nexec "{sys.executable}" -m benchsuite "$@"\n')
    place = tmp_path / "repository"
    place.mkdir()
    run(place, "git", "init", "-q")
    commit(place)
    return place


def commit(place: Path) -> None:
    run(place, "git", "add", "-A")
    done = run(place, "git", "commit", "-qm", "Change", "--allow-empty")
    assert done.returncode == 0, done.stderr


def changes(place: Path) -> str | None:
    """What the job writes of the last commit."""
    (output,) = re.findall(r"/(\.ci/changes\" .*)", (WORKFLOWS / "results.yml").read_text("utf-8"))[-1:]
    done = run(place, "bash", "-c", output.replace('.ci/changes"', str(JOB)))
    assert done.returncode == 0, done.stderr
    file = place / "changes" / "comment.md"
    return file.read_text("utf-8") if file.exists() else None


def test_the_first_results_ever_are_all_new(repository: Path, make_record: Make) -> None:
    fill(repository / "results", make_record, {"InfoNCE": LOW})
    commit(repository)
    output = changes(repository)
    assert output is not None
    assert "Before: 0 records, 0 tables; after: 4 records, 1 table." in output
    assert "tables: 1 added; cells: 2 added" in output


def test_the_last_commit_is_held_against_the_one_before(repository: Path, make_record: Make) -> None:
    fill(repository / "results", make_record, {"InfoNCE": LOW, "TeMo": LOW})
    commit(repository)
    shutil.rmtree(repository / "results")
    fill(repository / "results", make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    commit(repository)
    output = changes(repository)
    assert output is not None
    assert "`RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1` | `not exercised` | `reproduced`" in output
    assert "`RN50/InfoNCE, MSCOCO IR@1` |" not in output.partition("Ranks")[0]


def test_where_results_are_as_before_there_is_nothing_to_post(repository: Path, make_record: Make) -> None:
    fill(repository / "results", make_record, {"InfoNCE": LOW})
    commit(repository)
    (repository / "README.md").write_text("x")
    commit(repository)
    assert changes(repository) is None


def test_files_that_cannot_be_used_are_posted_too(repository: Path, make_record: Make) -> None:
    fill(repository / "results", make_record, {"InfoNCE": LOW})
    next((repository / "results").glob("infonce-s0-*.json")).write_text("{")
    commit(repository)
    output = changes(repository)
    assert output is not None
    assert "truncated or not JSON" in output


def test_results_that_are_all_removed_are_gone(repository: Path, make_record: Make) -> None:
    fill(repository / "results", make_record, {"InfoNCE": LOW})
    commit(repository)
    shutil.rmtree(repository / "results")
    commit(repository)
    output = changes(repository)
    assert output is not None
    assert "tables: 1 removed; cells: 2 removed" in output


GH = """#!{python}
import json, subprocess, sys
from pathlib import Path
place, words = Path(__file__).parent, sys.argv[1:]
state = json.loads((place / "state.json").read_text())
assert words.pop(0) == "api"
options = {{word: words[words.index(word) + 1] for word in ("--jq", "--method", "-F") if word in words}}
url = next(word for word in words if word.startswith("repos/"))
if "--method" in options:
    name, _, file = options["-F"].partition("=@")
    with (place / "calls").open("a") as log:
        log.write(json.dumps([options["--method"], url, name, Path(file).read_text("utf-8")]) + "\\n")
elif url.endswith("/zip"):
    sys.stdout.buffer.write((place / "artifact.zip").read_bytes())
else:
    subprocess.run(["jq", "-r", options["--jq"]], input=json.dumps(state[url]), text=True, check=True)
"""


class Platform:
    """What the platform knows and was output: artifacts, pull request 12, its comments."""

    def __init__(self, place: Path) -> None:
        self.bin, self.temp = place / "bin", place / "temp"
        program(self.bin, "gh", GH.format(python=sys.executable))
        self.temp.mkdir()
        self.artifacts = [{"name": "other", "id": 1}, {"name": "changed-cells", "id": 2}]
        self.pull: dict[str, Any] = {"state": "open", "head": {"sha": HEAD}}
        self.comments: list[dict[str, Any]] = []

    def post(self, text: bytes | str, number: str = "12\n") -> "subprocess.CompletedProcess[str]":
        """Runs the workflow's step on an artifact."""
        with zipfile.ZipFile(self.bin / "artifact.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("comment.md", text)
            packed.writestr("number", number)
        state = {
            "repos/us/suite/actions/runs/7/artifacts": {"artifacts": self.artifacts},
            "repos/us/suite/pulls/12": self.pull,
            "repos/us/suite/issues/12/comments": self.comments,
        }
        (self.bin / "state.json").write_text(json.dumps(state))
        step = yaml.safe_load((WORKFLOWS / "comment.yml").read_text("utf-8"))["jobs"]["comment"]["steps"][0]
        known = {
            "HEAD": HEAD,
            "REPOSITORY": "us/suite",
            "RUN": "7",
            "RUNNER_TEMP": str(self.temp),
            "GH_TOKEN": "secret",
        }
        settings = {name: known.get(name, value) for name, value in step["env"].items()} | {
            "RUNNER_TEMP": str(self.temp)
        }
        assert not [name for name, value in settings.items() if "${{" in value]
        return run(self.temp, "bash", "-e", "-c", step["run"], **settings)

    @property
    def calls(self) -> list[tuple[str, str, str, str]]:
        log = self.bin / "calls"
        return [tuple(json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    return Platform(tmp_path)


@posting
def test_the_text_is_posted_under_its_mark(platform: Platform) -> None:
    done = platform.post("### What changes\n\n| `a|b` |\n")
    assert done.returncode == 0, done.stderr
    ((method, url, name, body),) = platform.calls
    assert (method, url, name) == ("POST", "repos/us/suite/issues/12/comments", "body")
    warning = f"*A pull request can change the workflow that wrote this, at {HEAD}.*"
    assert body == f"{MARK}\n{warning}\n\n### What changes\n\n| `a|b` |\n"


@posting
def test_the_own_comment_is_replaced_and_no_other(platform: Platform) -> None:
    bot = {"login": "github-actions[bot]"}
    platform.comments = [
        {"id": 4, "user": {"login": "stranger"}, "body": f"{MARK} mine"},
        {"id": 5, "user": bot, "body": "something else"},
        {"id": 6, "user": bot, "body": f"{MARK}\nolder"},
        {"id": 8, "user": bot, "body": f"{MARK}\nolder still"},
    ]
    done = platform.post("x")
    assert done.returncode == 0, done.stderr
    assert [call[:2] for call in platform.calls] == [("PATCH", "repos/us/suite/issues/comments/6")]


@posting
@pytest.mark.parametrize(
    "number", ["", "0", "012", "-1", "12a", "12/../13", "12\n13", "$(id)", "12; id", "1" * 25, "１２"]
)
def test_a_number_that_is_none_ends_it(platform: Platform, number: str) -> None:
    done = platform.post("x", number)
    assert done.returncode == 1
    assert "::error::not the number of a pull request" in done.stdout
    assert platform.calls == []


@posting
@pytest.mark.parametrize(
    "pull", [{"state": "closed", "head": {"sha": HEAD}}, {"state": "open", "head": {"sha": "0" * 40}}]
)
def test_another_or_a_closed_pull_request_gets_no_comment(platform: Platform, pull: dict[str, Any]) -> None:
    platform.pull = pull
    done = platform.post("x")
    assert done.returncode == 0, done.stderr
    assert "pull request 12 is not, or is no longer, at" in done.stdout
    assert platform.calls == []


@posting
def test_without_changed_results_there_is_no_comment(platform: Platform) -> None:
    platform.artifacts = platform.artifacts[:1]
    done = platform.post("x")
    assert done.returncode == 0, done.stderr
    assert platform.calls == []


@posting
@pytest.mark.parametrize("text", ["", "é" * 64_001, "x" * 5_000_000])
def test_a_text_that_is_no_comment_ends_it(platform: Platform, text: str) -> None:
    done = platform.post(text)
    assert done.returncode == 1
    assert "::error::the text is missing, or longer than a comment can be" in done.stdout
    assert platform.calls == []


@posting
def test_nobody_is_called_and_nothing_is_run(platform: Platform) -> None:
    text = "@one &#64;two &#x40;three &COMMAT;four `id` $(touch pwned) ${GH_TOKEN} \\ ± τ &amp; \"'\n"
    done = platform.post(text)
    assert done.returncode == 0, done.stderr
    ((*_, body),) = platform.calls
    assert not re.search(r"@\w|&#|&commat", body, re.I)
    assert "`id` $(touch pwned) ${GH_TOKEN} \\ ± τ &amp; \"'" in body
    assert body.replace("\N{ZERO WIDTH SPACE}", "").endswith(text)
    assert not (platform.temp / "pwned").exists()


@posting
def test_bytes_that_are_no_text_are_left_out(platform: Platform) -> None:
    done = platform.post(b"before \xff\xfe after\n")
    assert done.returncode == 0, done.stderr
    assert platform.calls[0][3].endswith("before  after\n")
