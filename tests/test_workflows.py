"""The workflows: what they run exists, they may do no more than they must, and strangers' code meets no rights."""

import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from support.made_records import MakeRecord
from support.measured import LOW, fill
from support.only_installed import run_with_only

from benchsuite.cli import application

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
SHOWN = ROOT / "docs" / "publish.md"
FILES = [*sorted(FOLDER.glob("*.yml")), SHOWN]
PUBLISHER = "pypa/gh-action-pypi-publish"
"""The one action of others: what PyPI knows of trusted publishing is in it."""
WRITERS = {
    ("measure.yml", "attest"): {"id-token", "attestations"},
    ("measure.yml", "propose"): {"contents", "pull-requests"},
    ("pages.yml", "deploy"): {"pages", "id-token"},
    ("publish.md", "deploy"): {"pages", "id-token"},
    ("release.yml", "publish"): {"id-token"},
}
"""Jobs that may write, and what."""

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs a checkout: a source distribution has no CI files")
each = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def read(file: Path) -> dict[str, Any]:
    text = file.read_text("utf-8")
    shown = re.search(r"```yaml\n(.*?)```", text, re.S)
    content: dict[str, Any] = yaml.safe_load(shown[1] if shown else text)
    content["on"] = content.pop(True)  # YAML 1.1 takes the key `on` for a truth value
    return content


def steps(file: Path) -> Iterator[dict[str, Any]]:
    for job in read(file)["jobs"].values():
        yield from job["steps"]


def scripts(file: Path) -> str:
    return "\n".join(step["run"] for step in steps(file) if "run" in step)


def packages(file: Path) -> str:
    """What is installed for the suite's commands where torch is not."""
    (listed,) = re.findall(r"pip install (?:-c constraints\.txt )?(annotated-types .*)", scripts(file))
    return str(listed)


@each
def test_every_command_and_option_exists(file: Path) -> None:
    known = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
    shown = re.findall(r"^benchsuite .*", file.read_text("utf-8"), re.M) if file == SHOWN else []
    lines = [re.split(r"[>|;]|&&", line)[0] for line in [*scripts(file).splitlines(), *shown]]
    for program, *words in (shlex.split(line.strip(), comments=True) for line in lines if "benchsuite " in line):
        if program == "benchsuite":
            options = {name for parameter in known[words[0]].params for name in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= options
    for script in re.findall(r"\.ci/\w+", scripts(file)):
        assert os.access(ROOT / script, os.X_OK)


@each
def test_only_who_must_write_may_and_runs_nobodys_code(file: Path) -> None:
    """Who proposes results needs a checkout and git, and runs nothing of it."""
    content = read(file)
    assert set(content["permissions"].values()) <= {"read"}
    assert "pull_request_target" not in content["on"]
    for name, job in content["jobs"].items():
        granted = job.get("permissions", content["permissions"])
        rights = {right for right, what in granted.items() if what == "write"}
        assert rights == WRITERS.get((file.name, name), set())
        if rights:
            script = "\n".join(step.get("run", "") for step in job["steps"])
            assert not re.search(r"\b(bash|benchsuite|curl|eval|pip|python3?|source)\b", script)
            assert "pull_request" not in content["on"]


@each
def test_actions_stand_at_a_commit_with_its_version_and_leave_no_token_behind(file: Path) -> None:
    for step in steps(file):
        if "uses" in step:
            assert re.fullmatch(rf"(actions/[\w-]+|{PUBLISHER})@[0-9a-f]{{40}}", step["uses"])
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    used = re.findall(r"uses: \S+(.*)", file.read_text("utf-8"))
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", version) for version in used)


@each
def test_no_expression_stands_in_a_script(file: Path) -> None:
    """A title or a branch's name that is put into a script is run by it; in the environment it is a text."""
    assert "${{" not in scripts(file)


@pytest.mark.parametrize(
    ("table", "scale", "code"),
    [("temo/table1", "latents", 0), ("--plugin=x.py", "small", 1), ("temo/table1", "$(id)", 1), ("a/b\nc/d", "x", 1)],
)
def test_only_names_of_tables_and_scales_reach_the_command(table: str, scale: str, code: int) -> None:
    (guard,) = re.findall(r"\[\[ \$TABLE .*\]\]", scripts(FOLDER / "measure.yml"))
    environment = {**os.environ, "TABLE": table, "SCALE": scale}
    assert subprocess.run(["bash", "-c", guard], env=environment, check=False).returncode == code


@pytest.mark.slow
def test_the_jobs_install_all_that_their_commands_import_and_no_torch(tmp_path: Path, make_record: MakeRecord) -> None:
    for name in ("before", "results"):
        fill(tmp_path / name, make_record, {"InfoNCE": LOW, "TeMo": LOW[:2]})
    pages, results = packages(FOLDER / "pages.yml"), packages(FOLDER / "results.yml")
    assert packages(FOLDER / "ci.yml") == packages(SHOWN) == pages
    for installed, *arguments in [
        (pages, "report", "--results", "results", "--report", "site"),
        (results, "verify", "results"),
        (results, "diff", "before", "results"),
    ]:
        done = run_with_only(installed, *arguments, folder=tmp_path)
        assert "does not install" not in done.stderr
        assert done.returncode == (1 if arguments[0] == "verify" else 0), done.stderr
    short = run_with_only(results.replace("platformdirs", ""), "verify", "results", folder=tmp_path)
    assert "does not install platformdirs" in short.stderr


def test_all_versions_of_python_that_the_package_names_are_tested() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    versions = [line.rpartition(" ")[2] for line in named if re.search(r":: 3\.\d+$", line)]
    assert read(FOLDER / "ci.yml")["jobs"]["gate"]["strategy"]["matrix"]["python"] == versions
