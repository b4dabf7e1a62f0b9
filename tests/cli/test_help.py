"""The help of each command ends with two examples, and each is a command line that can be typed."""

import re
import shlex
import shutil
import subprocess
import sys
from typing import Any

import pytest
import typer
from support.commands import exit_code

from benchsuite.cli import COMMANDS, application
from benchsuite.cli.shared.examples import EXAMPLES, GROUPS
from benchsuite.folders import recipe_files, table_files
from benchsuite.registry import datasets, methods, tasks

ALL = [(name, example) for name, examples in EXAMPLES.items() for example in examples]
GROUP: Any = typer.main.get_command(application())


def test_each_command_has_two_of_its_own() -> None:
    for name, examples in EXAMPLES.items():
        assert len(set(examples)) == 2
        assert all(example.split()[:2] == ["benchsuite", name] for example in examples)


def test_the_help_of_all_has_each_under_one_heading_with_a_whole_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--help") == 0
    shown = capsys.readouterr().out
    headings = [line.removesuffix(":") for line in shown.splitlines() if re.fullmatch(r"[A-Z][^:]*:", line)]
    assert headings == ["Options", *GROUPS]
    listed = re.findall(r"^  ([a-z][a-z-]*)  ", shown.split(next(iter(GROUPS)))[1], re.MULTILINE)
    assert listed == [*COMMANDS]
    assert "..." not in shown.split("COMMAND [ARGS]...")[1]


@pytest.mark.parametrize(("name", "example"), ALL)
def test_it_can_be_parsed_and_names_what_exists(name: str, example: str) -> None:
    context = GROUP.commands[name].make_context(name, shlex.split(example)[2:])
    given = context.params
    known = {
        "recipe": {*recipe_files(), None}, "like": {*recipe_files(), None}, "task": {*tasks, None},
        "method": {*methods, "my-loss", "mine", "ours"}, "dataset": {*datasets},
    }  # fmt: skip
    for what, names in known.items():
        value = given.get(what)
        assert {*value} <= names if isinstance(value, list | tuple) else what not in given or value in names
    for word in example.split():
        assert not word.startswith("temo/") or word in table_files()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_ends_with_them(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(name, "--help") == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-3:] == [
        "  Examples:",
        *(f"    {example}" for example in EXAMPLES[name]),
    ]


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_script_of_a_shell_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchsuite", "--show-completion"],
        env={"_BENCHSUITE_COMPLETE": "source_bash", "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "_BENCHSUITE_COMPLETE" in done.stdout
