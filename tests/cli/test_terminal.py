"""What commands print of folders whose files have texts that a terminal or a build's log would obey."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import exit_code
from support.hostile import is_clean, is_command
from support.made_records import MakeRecord

from benchsuite.cli.shared.terminal import say
from benchsuite.execution.events import Event, Failed, Finished, Noted, Queued, Started
from benchsuite.records.schema import Record, Result
from benchsuite.records.store import Store
from benchsuite.setup import Protocol
from benchsuite.work.session import Lines

NAME = "\x1b[2J\x1b[H\nverified.\n::error::no\r\u202e##[error]"
"""Clears the screen, says what it likes, and gives a build service two orders."""
SPELLED = NAME.encode("ascii", "backslashreplace").decode()
COMMANDS = (
    ["verify", "{folder}"],
    ["verify", "{folder}", "--json"],
    ["claims", "--all", "--results", "{folder}"],
    ["claims", "--all", "--results", "{folder}", "--json"],
    ["export", "--all", "--results", "{folder}"],
    ["diff", "{folder}", "{empty}"],
    ["diff", "{folder}", "{empty}", "--json"],
    ["diff", "{record}", "{record}"],
    ["report", "--results", "{folder}", "--report", "{pages}"],
    ["list", "tables", "--tables", "{folder}"],
    ["list", "tables", "--tables", "{folder}", "--verbose"],
    ["list", "tables", "--tables", "{folder}", "--json"],
    ["weights", "{record}", "--out", "{empty}/weights"],
)
OWN = """
file_format = 1
paper = "own"
table = "table"
locator = "1"
title = {text}
recipes = {{ small = "scenes-small" }}
[[columns]]
key = "a"
group = ""
label = {text}
measure = "retrieval.i2t_r1"
[[rows]]
label = {text}
backbone = "RN50"
method = "infonce"
"""


def measuring(make: MakeRecord, task: str, measure: str, **changes: object) -> tuple[Record, bytes]:
    """A record with one more protocol, of that task, that has one measure."""
    plain = make()[0]
    protocols = {**plain.setup.protocols, task: Protocol(task=task, version=1)}
    result = Result(task=task, version=1, metrics={}, measures={measure: 0.5}, counts={})
    setup = plain.setup.model_copy(update={"protocols": protocols})
    return make(setup=setup, results={**plain.results, task: result}, **changes)


@pytest.fixture
def places(tmp_path: Path, make_sound: MakeRecord) -> dict[str, Path]:
    """A results folder with the name as a measure's, a file's, a method's and a table's."""
    folder = tmp_path / "results"
    method = make_sound()[0].method.model_copy(update={"title": NAME})
    record = measuring(make_sound, NAME, NAME, method=method)
    (folder / "papers" / "own").mkdir(parents=True)
    Store(folder).write(*record)
    (folder / f"infonce-s1{NAME.replace('/', '')}.json").write_text("{")
    (folder / "papers" / "own" / "table.toml").write_text(OWN.format(text=json.dumps(NAME)))
    (tmp_path / "empty").mkdir()
    file = next(folder.glob(f"*{record[0].run_id}*.json"))
    return {"folder": folder, "empty": tmp_path / "empty", "pages": tmp_path / "pages", "record": file}


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_line_that_is_printed_is_of_a_files_making(
    places: dict[str, Path], arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    exit_code(*(argument.format(**places) for argument in arguments))
    told = "".join(capfd.readouterr())
    lines = told.split("\n")
    assert "::error::no" in told or "u003a:error::no" in told
    assert [line for line in lines if not is_clean(line) or is_command(line)] == []
    assert "verified." not in lines


def test_a_measure_with_such_a_name_is_told_on_its_line(
    tmp_path: Path, make_sound: MakeRecord, capfd: pytest.CaptureFixture[str]
) -> None:
    Store(tmp_path).write(*measuring(make_sound, "geometry", NAME))
    exit_code("verify", tmp_path)
    told = capfd.readouterr().out.splitlines()
    named = [line for line in told if "::error::no" in line]
    assert len(named) == 2, "no task has it, and it is not recomputable"
    assert all(r"geometry: \u001b[2J\u001b[H\nverified.\n::error::no\r\u202e\u0023#[error] " in line for line in named)


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_what_nobody_expected_is_printed_like_all_else(
    debug: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(NAME)

    monkeypatch.setattr("benchsuite.cli.verify.find_run", fail)
    assert exit_code(*debug, "verify", "nothing") == 3
    lines = capfd.readouterr().err.split("\n")
    assert [line for line in lines if not is_clean(line) or is_command(line)] == []
    assert lines[-2].startswith("benchsuite: unexpected OSError: ")
    assert len(lines) == 2 or debug


def test_lines_of_progress_say_what_is_left_once_it_is_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten seconds a run: after eight of twenty there are two minutes left, and nothing is said of the last minute."""
    now = [100.0]
    monkeypatch.setattr("benchsuite.work.session.time.monotonic", lambda: now[0])
    run, lines = SimpleNamespace(label="x"), Lines(20, say)
    for _ in range(20):
        now[0] += 10
        lines.show(Finished(run, SimpleNamespace(cost={"seconds": 10}), b""))  # type: ignore[arg-type]
    told = [line.partition("(")[2] for line in capsys.readouterr().err.splitlines()]
    assert told[6:9] == ["7 of 20)", "8 of 20, about 2 min left)", "9 of 20, about 2 min left)"]
    assert told[-7:] == [*(f"{number} of 20)" for number in range(14, 21))]


def test_lines_of_progress_show_names_and_reasons_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    run = SimpleNamespace(label=f"[red]{NAME}", run_id="r", steps=2)
    events: list[Event] = [Queued(run, "1", NAME), Started(run), Noted(run, NAME), Failed(run, NAME)]  # type: ignore[arg-type]
    lines = Lines(1, say)
    for event in events:
        lines.show(event)
    told = capsys.readouterr().err
    assert "[red]" in told
    assert r"\u001b[2J\u001b[H\nverified." in told
    assert all(is_clean(line) and not is_command(line) and line != "verified." for line in told.split("\n"))
