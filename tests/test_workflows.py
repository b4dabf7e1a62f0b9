"""The workflows: what they run exists, they may do no more than they must, and strangers' code meets no rights."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from support.attested import TRAINED_THERE, listed
from support.measured import LOW, fill
from support.only_installed import run_with_only
from support.signing import REPOSITORY, Sigstore

from benchsuite.cli import application
from benchsuite.records.schema import Record
from benchsuite.records.sigstore_bundle import WORKFLOW
from benchsuite.records.store import Store

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
SHOWN = "docs/publish.md"
PUBLISHER = "pypa/gh-action-pypi-publish"
"""The one action of others: what PyPI knows of trusted publishing is in it."""
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
    assert NAMES == [
        "ci.yml",
        "comment.yml",
        "measure.yml",
        "mutation.yml",
        "pages.yml",
        "release.yml",
        "results.yml",
        SHOWN,
    ]


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
    smoke = ["benchsuite", "repro", "temo/table1", "--scale", "smoke", "--seeds", "1", "--rows", "infonce,temo"]
    read_runs = ["benchsuite", "verify", "runs"]
    assert commands("ci.yml") == [
        [".ci/run"],
        *[smoke, read_runs, ["benchsuite", "check-method", "infonce", "temo"]],
        *[[*smoke, "--jobs", "1"], read_runs, ["benchsuite", "doctor"]],
        *[["benchsuite", "list", "tables"], ["benchsuite", "verify", "results"]],
        ["benchsuite", "report", "--results", "results", "--report", "site"],
    ]
    assert commands("release.yml") == [[".ci/release", "$GITHUB_REF_NAME", "dist"]]
    assert commands("results.yml") == [
        [".ci/results", "HEAD^1"],
        [".ci/changes", "HEAD^1", "changes/comment.md"],
    ]
    assert commands("pages.yml") == [
        [".ci/results"],
        ["benchsuite", "report", "--results", "results", "--report", "site"],
    ]
    assert commands("comment.yml") == []
    repro, verify = ["benchsuite", "repro", "$TABLE", "--scale", "$SCALE", "--results"], ["benchsuite", "verify"]
    measured, pages = "$RUNNER_TEMP/measured", ["--report", "$RUNNER_TEMP/site"]
    assert commands("measure.yml") == [
        [*repro, measured, *pages],
        [*verify, measured, "--update"],
        [*repro, "results", *pages],
        [*verify, "results", "--provenance", "--update"],
    ]
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
        ("measure.yml", "sign"): {"id-token", "attestations"},
        ("measure.yml", "propose"): {"contents", "pull-requests"},
        ("pages.yml", "deploy"): {"pages", "id-token"},
        ("release.yml", "publish"): {"id-token"},
        (SHOWN, "deploy"): {"pages", "id-token"},
    }
    assert all(set(read(file)["permissions"].values()) <= {"read"} for file in NAMES)


def test_whoever_may_write_fetches_and_runs_nobodys_code() -> None:
    """Who proposes results needs a checkout and git, and runs nothing of it."""
    handed = {"actions/deploy-pages", "actions/download-artifact", "actions/upload-artifact"}
    more = {"sign": {"actions/attest-build-provenance"}, "propose": {"actions/checkout"}, "publish": {PUBLISHER}}
    writers = [(name, job) for _, name, job in jobs() if "write" in job.get("permissions", {}).values()]
    assert len(writers) == 6
    for name, job in writers:
        used = {step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step}
        assert used <= handed | more.get(name, set())
        for script in (step["run"] for step in job["steps"] if "run" in step):
            code = re.sub(r"^ *#.*$|'<!-- .* -->'", "", script, flags=re.M)
            runners = "bash|benchsuite|chmod|curl|eval|exec|node|np[mx]|pip3?|python3?|sh|source|tar|wget"
            runners += "|git" * (name != "propose")
            code = re.sub(r"github-actions\[bot\]|users\.noreply\.github\.com", "", code)
            assert not re.search(rf"\b({runners})\b|\bgh (?!api )", code)


def test_pull_requests_start_only_what_may_read() -> None:
    for file in NAMES:
        assert "pull_request_target" not in read(file)["on"]
    assert [file for file in NAMES if "pull_request" in read(file)["on"]] == ["ci.yml", "results.yml"]
    assert [file for file in NAMES if "workflow_run" in read(file)["on"]] == ["comment.yml"]


def test_what_is_signed_was_trained_by_the_same_workflow_run_on_main() -> None:
    """It starts by hand; the job that trains may only read and begins without records."""
    workflow = read("measure.yml")
    assert set(workflow["on"]) == {"workflow_dispatch"}
    train, sign, collect, propose = (workflow["jobs"][name] for name in ("train", "sign", "collect", "propose"))
    assert train["if"] == "github.ref == 'refs/heads/main'"
    assert train["permissions"] == collect["permissions"] == {"contents": "read"}
    assert [job["needs"] for job in (sign, collect, propose)] == ["train", "sign", "collect"]
    assert (ROOT / WORKFLOW).samefile(FOLDER / "measure.yml")
    trained = "\n".join(step.get("run", "") for step in train["steps"])
    assert '--results "$RUNNER_TEMP/measured"' in trained
    assert "-e ." in trained, "an installed package has no commit, and the signature names one"
    (attest,) = [step for step in sign["steps"] if step.get("id") == "attest"]
    assert attest["with"] == {"subject-path": "measured/MANIFEST.json"}


def script(job: str, what: str) -> str:
    (found,) = [step["run"] for step in read("measure.yml")["jobs"][job]["steps"] if what in step.get("run", "")]
    return str(found)


def bash(script: str, folder: Path, **variables: object) -> "subprocess.CompletedProcess[str]":
    """As the workflow runs it."""
    settings = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    command = ["bash", "-e", "-c", script]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


def test_signed_records_reach_the_results_and_are_verified_there(tmp_path: Path, make_sound: MakeRecord) -> None:
    """The scripts of signing and collecting; GitHub's action and training are ours, and the keys."""
    sigstore, measured, here = Sigstore(), tmp_path / "artifacts" / "measured", tmp_path / "checkout"
    Store(measured).write(*make_sound(0, environment=TRAINED_THERE))
    listed(measured)
    Store(here / "results").write(*make_sound(1))
    listed(here / "results")
    content = (measured / "MANIFEST.json").read_bytes()
    (tmp_path / "bundle.json").write_text(json.dumps(sigstore.bundle(content)))
    (tmp_path / "root.json").write_text(sigstore.root())
    done = bash(script("sign", "sha256sum"), measured.parent, SIGNATURE=tmp_path / "bundle.json")
    assert done.returncode == 0, done.stderr
    program = tmp_path / "benchsuite"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = repro ] || exec {sys.executable} -m benchsuite "$@" --trusted-root {tmp_path}/root.json\n'
    )
    program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    collect = script("collect", "cp -n")
    done = bash(collect, here, RUNNER_TEMP=tmp_path, PATH=path, GITHUB_REPOSITORY=REPOSITORY, TABLE="a/b", SCALE="c")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attested: 1 of 2 valid records" in done.stdout
    done = bash("benchsuite verify results --provenance", here, PATH=path, GITHUB_REPOSITORY=REPOSITORY)
    assert done.returncode == 0, done.stdout
    assert "not listed" not in done.stdout


@pytest.mark.parametrize(
    ("table", "scale"), [("--plugin=x.py", "small"), ("temo/table1", "$(id)"), ("a/b\nc/d", "small")]
)
def test_only_names_of_tables_and_scales_reach_the_command(tmp_path: Path, table: str, scale: str) -> None:
    guard = script("train", "--update").splitlines()[0]
    assert bash(guard, tmp_path, TABLE="temo/table1", SCALE="latents").returncode == 0
    assert bash(guard, tmp_path, TABLE=table, SCALE=scale).returncode == 1


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
        assert re.fullmatch(rf"(actions/[\w-]+|{PUBLISHER})@[0-9a-f]{{40}}", step["uses"])
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
    """What is installed for the suite's commands; other tools may be installed after that."""
    listed, *_ = re.findall(r"pip install (?:-c constraints\.txt )?(\w.*)", scripts(file))
    return str(listed)


def test_the_documentation_is_built_as_by_tox_and_before_the_pages_that_link_to_it() -> None:
    tox = (ROOT / "tox.ini").read_text("utf-8").partition("[testenv:docs]")[2].partition("\n[testenv:")[0]
    build = "python -m sphinx -W -n -q "
    assert build in tox
    script = scripts("pages.yml")
    assert script.index(build) < script.index("benchsuite report")
    assert re.search(r"python -m sphinx .* docs site/docs$", script, re.M)
    (installed,) = re.findall(r"pip install -c constraints\.txt \. (.*)", script)
    assert set(installed.split()) - set(tox.split()) == {"ipykernel", "nbclient"}
    execute, built = "python docs/notebooks/execute.py ", "python -m sphinx"
    assert script.index(installed) < script.index(execute) < script.index(built)
    assert "tox -e browser,lint,docs" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_the_jobs_install_all_that_their_commands_import_and_no_torch(tmp_path: Path, make_record: MakeRecord) -> None:
    for name in ("before", "results"):
        fill(tmp_path / name, make_record, {"InfoNCE": LOW, "TeMo": LOW[:2]})
    (_, report) = commands("pages.yml")
    for installed, arguments in [
        (packages("pages.yml"), report[1:]),
        (packages("pages.yml"), ["verify", "results"]),
        (packages("results.yml"), ["diff", "before", "results", "--format", "md"]),
    ]:
        assert "torch" not in installed.split()
        done = run_with_only(installed, *arguments, folder=tmp_path)
        assert "does not install" not in done.stderr
        assert done.returncode == (1 if arguments[0] == "verify" else 0), done.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    assert packages(SHOWN) == packages("pages.yml")


def test_a_release_is_published_of_what_was_checked_and_only_for_a_tag() -> None:
    workflow = read("release.yml")
    assert workflow["on"] == {"push": {"tags": ["v*"]}}
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert build["permissions"] == {"contents": "read"}
    assert publish["needs"] == "build"
    assert publish["environment"]["name"] == "pypi"
    upload, (download, release) = build["steps"][-1], publish["steps"]
    assert upload["with"]["name"] == download["with"]["name"] == "dist"
    assert upload["with"]["path"] == download["with"]["path"] == "dist"
    assert release["uses"].startswith(f"{PUBLISHER}@")
    assert release["with"] == {"attestations": True}, "no password: PyPI trusts the workflow"


def test_all_versions_of_python_that_the_package_names_are_tested() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    versions = [line.rpartition(" ")[2] for line in named if re.search(r":: 3\.\d+$", line)]
    assert read("ci.yml")["jobs"]["gate"]["strategy"]["matrix"]["python"] == versions
    assert "--resolution lowest-direct" in scripts("ci.yml")
    assert packages(SHOWN) in scripts("ci.yml")
