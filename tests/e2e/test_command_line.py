"""The user's path: what starts workers, by the real command in a process of its own; the rest in this process."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.commands import exit_code
from support.forked import Forked
from support.in_process import in_this_process

from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

BROKEN = """
import torch
from benchsuite import Loss, Method, register_method
from benchsuite.objectives.softmax import info_nce

@register_method("broken", title="Broken <b>")
class Broken(Method):
    "InfoNCE that breaks down."
    def loss(self, batch, clock):
        total = info_nce(batch.image @ batch.text.T, 0.05)
        return Loss(total * (float("nan") if clock.step == 3 else 1), {"contrast": total})

@register_method("faulty")
class Faulty(Method):
    "InfoNCE with a fault."
    def loss(self, batch, clock):
        return Loss(info_nce(batch.image @ batch.text.T, self.missing if clock.step == 3 else 0.05))
"""
TABLE = ["repro", "temo/table1", "--scale", "smoke", "--rows", "infonce,RN50/TeMo", "--seeds", "2"]
RUNS = 6


def start(arguments: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
    """As a user does."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "benchsuite", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed_ctrl_c)


def heed_ctrl_c() -> None:
    """In a new process: Ctrl-C ends it, even if the tests were started in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Stop:
    """How a table ended that was stopped, and the records it left."""

    returncode: int
    err: str
    records: dict[Path, int]
    """File to time of writing."""


@dataclass(frozen=True)
class Measured:
    """A table that was stopped twice and then done to the end."""

    folder: Path
    interrupted: Stop
    killed: Stop
    out: str


def records_in(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in (folder / "runs").glob("*-s*.json")}


def stopped(folder: Path, how: signal.Signals, after: int) -> Stop:
    """Start the table, and stop it once there are so many records."""
    command = [*TABLE, "--jobs", "2"]
    process = start(command, folder) if how is signal.SIGINT else Forked(command, folder)
    while len(records_in(folder)) < after:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(how)
    if how is signal.SIGINT:  # and once more, as impatient people do
        time.sleep(0.2)
        process.send_signal(how)
    *_, err = process.communicate()
    return Stop(process.poll() or 0, err, records_in(folder))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    folder = tmp_path_factory.mktemp("measured")
    interrupted = stopped(folder, signal.SIGINT, 1)
    killed = stopped(folder, signal.SIGKILL, len(interrupted.records) + 1)
    return Measured(folder, interrupted, killed, in_this_process(folder, *TABLE))


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`command(folder, *arguments)`: exit code, output and errors of the command in this process."""

    def call(folder: Path, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        capsys.readouterr()
        code = exit_code(*arguments)
        return code, *capsys.readouterr()

    return call


def test_repro_prints_published_beside_ours_and_the_page(measured: Measured) -> None:
    assert re.search(r"InfoNCE +published +21\.64 +28\.60", measured.out)
    assert re.search(r"ours +\d+\.\d ± \d+\.\d.* 2 seeds", measured.out)
    page = re.sub("<[^>]*>", "", Path(re.findall(r"page: +(.*)", measured.out)[0]).read_text())
    assert "test_resnet" in page
    assert "21.64" in page


def test_ctrl_c_ends_with_a_hint_and_without_a_traceback(measured: Measured) -> None:
    assert measured.interrupted.returncode == 130
    assert "The same command continues" in measured.interrupted.err
    assert "Traceback" not in measured.interrupted.err
    assert "leaked" not in measured.interrupted.err


def test_a_stopped_table_goes_on_where_it_stopped(measured: Measured) -> None:
    before, after, last = measured.interrupted.records, measured.killed.records, records_in(measured.folder)
    assert measured.killed.returncode == -signal.SIGKILL
    assert 1 <= len(before) < len(after) < len(last) == RUNS
    assert f"{RUNS} runs, {RUNS - len(after)} to do" in measured.out
    assert before.items() <= after.items() <= last.items()
    assert len(Store(measured.folder / "runs").read().records) == RUNS


def test_repeating_a_finished_table_runs_nothing(measured: Measured, command: Command) -> None:
    before = records_in(measured.folder)
    code, out, _ = command(measured.folder, *TABLE)
    assert code == 0
    assert " 0 to do" in out
    assert records_in(measured.folder) == before


def test_report_makes_the_pages_again_from_the_records_alone(measured: Measured, command: Command) -> None:
    assert command(measured.folder, "report", "--report", "again")[0] == 0
    again = (measured.folder / "again" / "tables" / "temo-table1-smoke.html").read_text()
    assert again == (measured.folder / "reports" / "tables" / "temo-table1-smoke.html").read_text()


def test_two_tables_do_the_runs_they_share_once(measured: Measured, command: Command) -> None:
    request = ["repro", "temo/table1", "temo/table4", "--scale", "smoke", "--rows", "infonce", "--seeds", "2"]
    code, out, _ = command(measured.folder, *request, "--dry-run")
    assert code == 0
    assert out.startswith("2 tables at scale smoke: 4 runs, 0 to do.\n")


def test_failing_runs_keep_the_others_and_say_why(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    arguments = [
        "repro",
        "temo/table1",
        "--scale",
        "smoke",
        "--rows",
        "RN50/broken,RN50/faulty,RN50/InfoNCE",
        "--seeds",
        "1",
    ]
    code, out, err = Forked([*arguments, "--plugin", "broken.py", "--jobs", "1"], tmp_path).communicate()
    assert code == 3
    assert "broken: the loss is nan at step 3" in err
    assert re.search(r"AttributeError: .*'missing' \(broken\.py, line 17\)", err)
    assert "Traceback" not in out + err
    assert [r.method.name for r in Store(tmp_path / "runs").read().records.values()] == ["infonce"]
    page = (tmp_path / "reports" / "tables" / "temo-table1-smoke.html").read_text()
    assert "the loss is nan at step 3" in page
    assert "Broken &lt;b&gt;" in page
    assert "Broken <b>" not in page
    (details,) = (tmp_path / "runs" / "logs").glob("*.txt")
    assert "Traceback (most recent call last)" in details.read_text()
    assert str(details.relative_to(tmp_path)) in err


def test_a_truncated_record_is_named_and_the_rest_is_shown(
    tmp_path: Path, measured: Measured, command: Command
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for file in (measured.folder / "runs").glob("infonce-s*"):
        (runs / file.name).write_bytes(file.read_bytes())
    victim, *others = sorted(runs.glob("*.json"))
    victim.write_bytes(victim.read_bytes()[:500])
    arguments = ["repro", "temo/table1", "--scale", "smoke", "--rows", "infonce", "--seeds", "2"]
    before = victim.read_bytes()
    for refusing in (arguments, ["report"]):
        code, _, err = command(tmp_path, *refusing)
        assert code == 1
        assert f"{victim.relative_to(tmp_path)}: truncated or not JSON" in err
        assert "Traceback" not in err
        page = tmp_path / "reports" / "tables" / "temo-table1-smoke.html"
        assert "not run yet: seed" in page.read_text(), "a truncated record does not say whose it was"
        assert " ± " in page.read_text()
        page.unlink()
    assert victim.read_bytes() == before
    assert " 4 runs, 0 to do, 1 refused" in command(tmp_path, *arguments, "--dry-run")[1]
    victim.unlink()
    assert " 4 runs, 1 to do" in command(tmp_path, *arguments, "--dry-run")[1]
    assert all(json.loads(file.read_text()) for file in others)
