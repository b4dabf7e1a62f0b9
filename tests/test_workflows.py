"""The workflows: what they run exists, they may do no more than they must, and strangers' code meets no rights."""

import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from measured import LOW, fill
from only_installed import run_with_only

from benchsuite.cli import application
from benchsuite.records.schema import Record

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
SHOWN = "docs/publish.md"
BASE = "$RUNNER_TEMP/base"
NAMES = [*sorted(file.name for file in FOLDER.glob("*.yml")), SHOWN]
MakeRecord = Callable[..., tuple[Record, bytes]]

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs a checkout: a source distribution has no CI files")


def read(name: str) -> dict[str, Any]:
    text = (ROOT / name if name == SHOWN else FOLDER / name).read_text("utf-8")
    shown = re.search(r"```yaml\n(.*?)```", text, re.S)
    content: dict[str, Any] = yaml.safe_load(shown[1] if shown else text)
    content["on"] = content.pop(True)  # YAML 1.1 takes the key `on` for a truth value
    return content


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file in NAMES:
        for name, job in read(file)["jobs"].items():
            yield file, name, job


def steps(file: str) -> list[dict[str, Any]]:
    return [step for name, _, job in jobs() if name == file for step in job["steps"]]


def scripts(file: str) -> str:
    return "\n".join(step["run"] for step in steps(file) if "run" in step)


def commands(file: str) -> list[list[str]]:
    """The words of each line in which the suite or one of the scripts in .ci is called."""
    lines = [re.split(r"[>|;]|&&", line)[0] for line in scripts(file).splitlines()]
    lines = [re.sub(rf'"{re.escape(BASE)}/(\.ci/\w+)"', r"\1", line) for line in lines]
    words = [shlex.split(line) for line in lines if re.match(r"\s*(benchsuite|\.ci/)", line)]
    return words


def test_there_is_one_for_each_purpose() -> None:
    assert NAMES == ["ci.yml", "comment.yml", "mutation.yml", "pages.yml", "results.yml", SHOWN]


def require_known(program: str, *words: str) -> None:
    """The script is there, or the command with its options."""
    if program != "benchsuite":
        assert os.access(ROOT / program, os.X_OK)
        return
    known = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
    options = {name for parameter in known[words[0]].params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


@pytest.mark.parametrize("file", NAMES)
def test_every_command_and_option_exists(file: str) -> None:
    for command in commands(file):
        require_known(*command)


def test_every_command_shown_to_people_exists() -> None:
    shown = re.findall(r"^benchsuite .*", (ROOT / SHOWN).read_text("utf-8"), re.M)
    assert len(shown) > 3
    for line in shown:
        require_known(*shlex.split(line, comments=True))


def test_the_commands_are_those_meant() -> None:
    assert commands("ci.yml") == [[".ci/run"]]
    assert commands("results.yml") == [
        [".ci/results", "HEAD^1"],
        [".ci/changes", "HEAD^1", "changes/comment.md"],
    ]
    assert commands("pages.yml") == [
        [".ci/results"],
        ["benchsuite", "report", "--results", "results", "--report", "site"],
    ]
    assert commands("comment.yml") == []
    assert commands(SHOWN) == [["benchsuite", "verify", "results"], commands("pages.yml")[1]]


def test_pull_requests_run_the_coverage_that_the_gate_leaves_to_them() -> None:
    tox = (ROOT / "tox.ini").read_text("utf-8").partition("[testenv:coverage]")[2].partition("[testenv:")[0]
    assert "--cov " in tox
    assert tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["coverage"]["report"]["fail_under"] == 90
    assert "tox -e coverage" in read("ci.yml")["jobs"]["coverage"]["steps"][-1]["run"]


def test_the_rooms_whose_changes_are_tried_exist() -> None:
    job = read("mutation.yml")["jobs"]["changes"]
    for room in job["strategy"]["matrix"]["room"]:
        assert (ROOT / "benchsuite" / room).is_dir()
        assert (ROOT / "tests" / room).is_dir()
    assert 'tox -e mutation -- "benchsuite/$ROOM" "tests/$ROOM"' in job["steps"][-1]["run"]
    assert "[testenv:mutation]" in (ROOT / "tox.ini").read_text("utf-8")


def test_only_who_must_write_may_and_only_there() -> None:
    allowed: dict[tuple[str, str], set[str]] = {}
    for file, name, job in jobs():
        granted = job.get("permissions", read(file)["permissions"])
        assert isinstance(granted, dict), f"{file}, {name}: permissions are named one by one"
        assert set(granted.values()) <= {"read", "write"}
        allowed[file, name] = {right for right, what in granted.items() if what == "write"}
        assert set(granted) - allowed[file, name] <= {"contents", "actions"}
    assert {key: rights for key, rights in allowed.items() if rights} == {
        ("comment.yml", "comment"): {"pull-requests"},
        ("pages.yml", "deploy"): {"pages", "id-token"},
        (SHOWN, "deploy"): {"pages", "id-token"},
    }
    assert all(set(read(file)["permissions"].values()) <= {"read"} for file in NAMES)


def test_whoever_may_write_fetches_and_runs_nobodys_code() -> None:
    writers = [job for _, _, job in jobs() if "write" in job.get("permissions", {}).values()]
    assert len(writers) == 3
    for job in writers:
        assert {step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step} <= {"actions/deploy-pages"}
        for script in (step["run"] for step in job["steps"] if "run" in step):
            code = re.sub(r"^ *#.*$|'<!-- .* -->'", "", script, flags=re.M)
            runners = "bash|benchsuite|chmod|curl|eval|exec|git|node|np[mx]|pip3?|python3?|sh|source|tar|wget"
            assert not re.search(rf"\b({runners})\b|\bgh (?!api )", code)


def test_pull_requests_start_only_what_may_read() -> None:
    for file in NAMES:
        assert "pull_request_target" not in read(file)["on"]
    assert [file for file in NAMES if "pull_request" in read(file)["on"]] == ["ci.yml", "results.yml"]
    assert [file for file in NAMES if "workflow_run" in read(file)["on"]] == ["comment.yml"]


def test_pages_are_published_from_the_main_branch_alone() -> None:
    for file in ("pages.yml", SHOWN):
        on = read(file)["on"]
        assert set(on) <= {"push", "workflow_dispatch"}
        assert on["push"]["branches"] == ["main"]
        assert "results/**" in on["push"]["paths"]
        assert read(file)["jobs"]["deploy"]["environment"]["name"] == "github-pages"
        assert read(file)["jobs"]["deploy"]["needs"] == "build"
    assert {"benchsuite/**", "baselines/**"} <= set(read("pages.yml")["on"]["push"]["paths"])


def test_no_expression_stands_in_a_script() -> None:
    """A title or a branch's name that is put into a script is run by it; in the environment it is a text."""
    for file in NAMES:
        assert "${{" not in scripts(file)


def test_actions_are_the_platforms_own_at_a_commit_and_leave_no_token_behind() -> None:
    used = [step for file in NAMES for step in steps(file) if "uses" in step]
    assert used
    for step in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"])
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_each_commit_of_an_action_is_named_with_its_version_and_kept_up_to_date() -> None:
    texts = [(ROOT / name if name == SHOWN else FOLDER / name).read_text("utf-8") for name in NAMES]
    named = {tuple(used) for text in texts for used in re.findall(r"uses: (\S+)@(\S+)(.*)", text)}
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", version) for _, _, version in named)
    assert len(named) == len({action for action, _, _ in named}), "one commit of each"
    updates = yaml.safe_load((FOLDER.parent / "dependabot.yml").read_text("utf-8"))["updates"]
    assert [update["package-ecosystem"] for update in updates] == ["github-actions"]


def test_a_pull_request_is_checked_by_the_code_of_its_base() -> None:
    text = scripts("results.yml")
    install, *checks = [step["run"] for step in steps("results.yml") if "run" in step]
    assert install.index(f"git worktree add \"{BASE}\" 'HEAD^1'") < install.index("pip install")
    assert f'cd "{BASE}"' in install
    assert all(line.count(f'"{BASE}/.ci/') == line.count(".ci/") for line in text.splitlines())
    assert len(checks) == 2
    paths = set(read("results.yml")["on"]["pull_request"]["paths"])
    assert {"results/**", "benchsuite/**", "baselines/**"} <= paths


def test_the_comment_takes_what_the_other_workflow_hands_over() -> None:
    assert read("comment.yml")["on"]["workflow_run"]["workflows"] == [read("results.yml")["name"]]
    (upload,) = [step["with"] for step in steps("results.yml") if step.get("uses", "").startswith("actions/upload")]
    assert f'select(.name == "{upload["name"]}")' in scripts("comment.yml")
    for name in ("number", "comment.md"):
        assert f"{upload['path']}/{name}" in scripts("results.yml")
        assert f"unzip -p changes.zip {name}" in scripts("comment.yml")


def packages(file: str) -> str:
    (listed,) = re.findall(r"pip install (?:-c constraints\.txt )?(\w.*)", scripts(file))
    return str(listed)


def test_the_jobs_install_all_that_their_commands_import_and_no_torch(tmp_path: Path, make_record: MakeRecord) -> None:
    for name in ("before", "results"):
        fill(tmp_path / name, make_record, {"InfoNCE": LOW, "TeMo": LOW[:2]})
    (_, report) = commands("pages.yml")
    for listed, arguments in [
        (packages("pages.yml"), report[1:]),
        (packages("pages.yml"), ["verify", "results"]),
        (packages("results.yml"), ["diff", "before", "results", "--format", "md"]),
    ]:
        assert "torch" not in listed.split()
        done = run_with_only(listed, *arguments, folder=tmp_path)
        assert "does not install" not in done.stderr
        assert done.returncode == (1 if arguments[0] == "verify" else 0), done.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    assert packages(SHOWN) == packages("pages.yml")
