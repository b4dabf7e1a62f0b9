"""--json: stdout is one JSON text with the keys that docs/formats.md lists, whatever else is said."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from support import tiny_tuning
from support.commands import exit_code
from support.made_records import MakeRecord
from support.measured import LOW, fill
from support.own_tables import NAME, own_folder
from support.tiny_recipes import VECTORS

from benchsuite.cli import application
from benchsuite.gate import regress
from benchsuite.gate.regress import Check, Kind
from benchsuite.records.store import Store

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
GROUP: Any = typer.main.get_command(application())
Patch = pytest.MonkeyPatch
Told = Callable[..., Any]


def documented(command: str) -> set[str]:
    """The keys of its object, or of each of its list."""
    section = PAGE.partition("## JSON of commands")[2].partition("\n## ")[0]
    (row,) = re.findall(rf"^\| `{command}` \|(.*)\|$", section, re.M)
    return set(re.findall(r"`(\w+)`", row.rpartition("|")[2]))


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    def tell(*arguments: object, code: int = 0) -> Any:
        assert exit_code(*arguments, "--json") == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return tell


@pytest.fixture
def runs(tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a measured table, and the place of the command."""
    monkeypatch.chdir(tmp_path)
    return fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": LOW[:2]})


def test_all_commands_that_print_a_table_have_it_and_are_documented() -> None:
    having = {name for name, command in GROUP.commands.items() if any("--json" in p.opts for p in command.params)}
    listed = PAGE.partition("## JSON of commands")[2].partition("\n## ")[0]
    assert having == set(re.findall(r"^\| `([a-z-]+)` \|", listed, re.M))
    assert having >= {"list", "claims", "doctor", "diff", "tune", "verify", "export", "repro", "run", "regress"}


@pytest.mark.parametrize("what", ["methods", "tasks", "datasets", "tables", "recipes"])
def test_list(told: Told, what: str) -> None:
    items = told("list", what)
    assert all(documented("list") <= item.keys() for item in items)


def test_verify_claims_diff_and_export(told: Told, runs: Path) -> None:
    assert told("verify", "runs", code=1).keys() == documented("verify")
    assert told("claims", "temo/table1").keys() == documented("claims")
    assert told("export", "temo/table1").keys() == documented("export")
    one, two = sorted(Store(runs).read().records)[:2]
    assert told("diff", one, two).keys() | told("diff", "runs", "runs").keys() == documented("diff")


def test_what_is_planned(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_tuning.own_folder(Path("own"))
    about = "--tables", "own", "--dry-run"
    run = told("run", "infonce", "--recipe", "vectors", *about)
    assert run["state"] == "to do"
    assert run.keys() <= documented("run")
    printed = ("--scale", "latents", "--rows", "TS", "--regime", "printed", "--seeds", "2")
    repro = told("repro", tiny_tuning.NAME, *printed, *about)
    assert [each["state"] for each in repro["runs"]] == ["to do"] * 4
    assert repro.keys() <= documented("repro")
    tune = told("tune", "infonce", "--recipe", "vectors", "--trials", "3", *about)
    assert tune.keys() == documented("tune")
    assert {each["method"] for each in tune["methods"]} == {"infonce"}
    assert all((each["best_score"] is None) == (each["trials"] == 0) for each in tune["methods"])


@pytest.mark.usefixtures("in_process", "forgetful_registries")
def test_what_was_trained_is_on_stdout_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code("new-task", "my-task") == 0
    capsys.readouterr()
    assert exit_code("run", "infonce", "--recipe", "my_task.toml", "--plugin", "my_task.py", "--json") == 0
    said = capsys.readouterr()
    content = json.loads(said.out)
    assert content.keys() == documented("run")
    assert 0 < content["metrics"]["my-task"]["mrr"] < 1
    assert content["run_id"] in said.err, "what is said without --json goes to stderr"


@pytest.mark.usefixtures("in_process")
def test_what_a_table_came_to_is_told_after_its_runs(told: Told, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = own_folder(Path("own")) / "recipes" / "tiny.toml"
    recipe.write_text(VECTORS.replace("backbones.mlp", "backbones.RN50"))
    command = ("repro", NAME, "--scale", "smoke", "--tables", "own", "--rows", "infonce,ts", "--seeds", "1")
    content = told(*command, "--jobs", "1")
    assert content.keys() == documented("repro") - {"to_tune"}
    assert [run["state"] for run in content["runs"]] == ["stored"] * 2
    assert {run["run_id"] for run in content["runs"]} == Store(Path("runs")).read().records.keys()
    (table,) = content["tables"]
    assert table["table"] == NAME
    assert all(cell["n"] == 1 for cell in table["cells"] if not cell["name"].endswith("TeMo"))
    (page,) = content["pages"].values()
    assert "IR@1" in Path(page).read_text("utf-8")


@pytest.mark.usefixtures("in_process")
def test_an_evaluation_is_told(
    told: Told, tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(VECTORS)
    run_id = told("run", "infonce", "--recipe", "tiny.toml", "--keep-weights")["run_id"]
    assert exit_code("weights", run_id, "--out", "towers") == 0
    capsys.readouterr()
    content = told("evaluate", "towers")
    assert content.keys() == documented("evaluate")
    record = Store(Path("runs")).read().records[run_id]
    assert content["results"]["retrieval"]["metrics"] == record.results["retrieval"].metrics


@pytest.mark.parametrize(("kind", "found", "code"), [("unchanged", "1.0", 0), ("regressed", "1.5", 1)])
def test_a_regression_is_told_with_both_values(
    told: Told, monkeypatch: Patch, kind: Kind, found: str, code: int
) -> None:
    check = Check("infonce", "loss", kind, "1.0", found, "0.1")
    monkeypatch.setattr(regress, "gate", lambda names, progress: iter([check] * (names == ["infonce"])))
    content = told("regress", "infonce", code=code)
    assert content.keys() == documented("regress")
    assert content["passed"] == (code == 0)
    (one,) = content["checks"]
    assert (one["subject"], one["expected"], one["found"]) == ("infonce", "1.0", found)


def test_an_error_leaves_stdout_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("claims", "temo/tabel1", "--json") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert 'Did you mean "temo/table1"' in said.err


def test_the_next_command_prints_text_again(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code("list", "tasks", "--json")
    capsys.readouterr()
    exit_code("list", "tasks")
    assert re.search(r"^retrieval +\w", capsys.readouterr().out, re.M)
