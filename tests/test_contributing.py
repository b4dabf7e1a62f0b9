"""Files for contributors: of the right format, and what they name exists."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchsuite.cli import COMMANDS

ROOT = Path(__file__).parents[1]
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
PAGES = ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", ".github/pull_request_template.md"]
KINDS = {"markdown": set(), "textarea": {"label"}, "input": {"label"}, "dropdown": {"label", "options"},
         "checkboxes": {"label", "options"}}  # fmt: skip
"""Elements of an issue form, with the attributes that they must have."""

pytestmark = pytest.mark.skipif(not FORMS.exists(), reason="needs a checkout: a source distribution has no such files")


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize("file", sorted(file.name for file in FORMS.glob("*.yml") if file.name != "config.yml"))
def test_a_form_is_one_that_the_platform_shows(file: str) -> None:
    form = load(FORMS / file)
    assert {"name", "description", "body"} <= form.keys() <= {"name", "description", "body", "labels", "title"}
    ids = [element["id"] for element in form["body"] if "id" in element]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[\w-]+", name) for name in ids)
    for element in form["body"]:
        assert KINDS[element["type"]] <= element["attributes"].keys()
        assert element.keys() <= {"type", "id", "attributes", "validations"}
        assert all(isinstance(label, str) or "label" in label for label in element["attributes"].get("options", ()))
    assert any(element["type"] != "markdown" for element in form["body"])


@pytest.mark.parametrize("page", PAGES)
def test_files_and_commands_that_are_named_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (ROOT / page).parent.joinpath(link).exists(), link
    for command in re.findall(r"`benchsuite ([a-z-]+)", text):
        assert command in COMMANDS
    for extra in re.findall(r'-e "?\.\[([\w,]+)\]', text):
        known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        assert {*extra.split(",")} <= known.keys()


def test_contributing_takes_five_commands() -> None:
    found = re.search(r"```\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.S)
    assert found is not None
    assert len(found[1].strip().splitlines()) == 5


def test_hooks_run_what_the_gate_runs() -> None:
    (repository,) = load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local", "versions are those of the environment, and nothing is downloaded"
    for hook in repository["hooks"]:
        assert {"id", "name", "entry", "language"} <= hook.keys()
        re.compile(hook.get("files", ""))
    entries = " ".join(hook["entry"] for hook in repository["hooks"])
    tox = (ROOT / "tox.ini").read_text("utf-8")
    for command in ("ruff check", "ruff format", "mypy"):
        assert command in entries
        assert command in tox


def test_the_map_of_the_house_is_current_and_complete() -> None:
    script = ROOT / "docs" / "make_house.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rooms = set(re.findall(r"^\| \d+ \| `(\w+)", (ROOT / "docs" / "maintainers" / "house.md").read_text("utf-8"), re.M))
    package = ROOT / "benchsuite"
    there = {path.stem for path in package.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))}
    assert rooms == there - {"__init__"}
