"""What commands import: the start of a short one is most of its time."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from support.made_records import MakeRecord

from benchsuite import cli
from benchsuite.cli import COMMANDS, application
from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

TRAINING = {"torch", "torchvision", "timm", "transformers", "deepspeed", "datasets", "open_clip"}
ANALYSIS = {"numpy", "scipy", "sklearn", "pandas", "pyarrow"}
PAGES = {"jinja2", "matplotlib", "latex2mathml", "PIL"}


def loaded(*arguments: object) -> set[str]:
    """Names of the packages and modules that the command has imported when it is done."""
    return loaded_by(arguments)


def loaded_by(*commands: Sequence[object]) -> set[str]:
    """What one process has imported when it has done these commands."""
    code = (
        "import json, sys\n"
        "from benchsuite.cli import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    try: main(words)\n"
        "    except SystemExit as stop: assert stop.code in (None, 0, 1), (words, stop.code)\n"
        "print('loaded:', *sorted({*sys.modules, *(name.partition('.')[0] for name in sys.modules)}))"
    )
    words = json.dumps([[str(argument) for argument in command] for command in commands])
    settings = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", code, words], capture_output=True, text=True, check=False, env=settings
    )
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.rpartition("loaded: ")[2].split())


@pytest.fixture
def folder(tmp_path: Path, make_record: MakeRecord) -> Path:
    """Of one record."""
    Store(tmp_path).write(*make_record())
    return tmp_path


def test_help_imports_nothing_but_the_command_line() -> None:
    found = loaded_by(["--help"], ["--version"])
    assert not found & {*TRAINING, *ANALYSIS, *PAGES, "pydantic", "rich", "email", "zipfile"}


def test_list_imports_neither_arrays_nor_pages() -> None:
    whats = ("methods", "tasks", "datasets", "embeddings", "tables", "recipes")
    assert not loaded_by(*(["list", what] for what in whats)) & {*TRAINING, *ANALYSIS, *PAGES}


def test_verify_imports_arrays_alone(folder: Path) -> None:
    (record,) = folder.glob("*.json")
    assert not loaded_by(["verify", folder], ["verify", record]) & {*TRAINING, *PAGES, *ANALYSIS - {"numpy"}}


def test_diff_imports_nothing_that_trains_on_a_terminal_of_few_letters_and_names_that_are_no_text(folder: Path) -> None:
    (record,) = folder.glob("*.json")
    Path(folder, os.fsdecode(b"\xff.json")).write_text("{}")
    commands = (["diff", record, record], ["diff", folder, folder], ["diff", folder, folder, "--json"])
    assert not loaded_by(*commands) & {*TRAINING, *PAGES, "sklearn"}


def test_a_report_imports_nothing_that_trains(folder: Path) -> None:
    assert not loaded("report", "--results", folder, "--report", folder / "pages") & {*TRAINING, "pandas", "sklearn"}


def test_a_plot_imports_nothing_that_trains(tmp_path: Path, make_record: MakeRecord) -> None:
    method = make_record()[0].method
    for name in ("infonce", "ts"):
        for seed in (0, 1):
            record = make_record(method=method.model_copy(update={"name": name, "title": name}), seed=seed)
            Store(tmp_path).write(*record)
    assert not loaded("plot", "ts", "--results", tmp_path) & {*TRAINING, "pandas", "sklearn", "matplotlib"}


@pytest.mark.slow
def test_a_dry_run_imports_no_pages(tmp_path: Path) -> None:
    arguments = ("temo/table1", "--scale", "smoke", "--rows", "TeMo", "--seeds", "1", "--results", tmp_path)
    pages = {"matplotlib", "latex2mathml", "benchsuite.report.site", "benchsuite.report.render"}
    assert not loaded("repro", *arguments, "--dry-run") & {*pages, "deepspeed"}


def test_the_package_alone_imports_no_library() -> None:
    code = "import sys; before = {*sys.modules}; import benchsuite; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {name.partition(".")[0] for name in done.stdout.split()}
    assert not found & {*TRAINING, *ANALYSIS, "email", "pydantic"}


def test_help_says_the_same_of_commands_that_are_not_imported() -> None:
    whole, without = (
        {command.name: command.callback.__doc__ for command in application(called).registered_commands}
        for called in (tuple(COMMANDS), ())
    )
    assert [*without] == [*COMMANDS]
    assert {name: " ".join(doc.split()) for name, doc in without.items()} == {
        name: " ".join(doc.split()) for name, doc in whole.items()
    }


def test_a_called_command_needs_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_described", lambda module: pytest.fail(f"{module} was read"))
    assert names_of(application(["diff"])) == ["diff"]
    monkeypatch.undo()
    assert names_of(application(["dif"])) == list(COMMANDS), "for the help, and for what was meant"


def names_of(app: typer.Typer) -> list[str]:
    group: Any = typer.main.get_command(app)
    return list(group.commands)
