"""Windows has no user signals, POSIX locks and resource limits: reading works there, training says what to do."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import exit_code
from support.made_records import MakeRecord
from support.measured import LOW, fill

from benchsuite import running
from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

WITHOUT = """
import os, signal, sys
for name in ("fcntl", "resource", "grp", "pwd", "termios"):
    sys.modules[name] = None
for name in ("SIGUSR1", "SIGUSR2", "SIGHUP", "SIGKILL", "SIGALRM", "alarm"):
    if hasattr(signal, name): delattr(signal, name)
for name in ("fork", "sched_getaffinity", "O_NOFOLLOW", "O_NONBLOCK"):
    if hasattr(os, name): delattr(os, name)
from benchsuite.cli import main
for command in sys.argv[1:]:
    try: main(command.split())
    except SystemExit as stop: assert stop.code in (None, 0), (command, stop.code)
"""
READING = (
    "list tables",
    "report --results runs --report site",
    "claims temo/table1 --results runs",
    "export temo/table1 --results runs",
    "diff runs runs",
    "new-method my-loss",
    "verify sound --update",
)


def test_what_reads_needs_nothing_of_posix(tmp_path: Path, make_record: MakeRecord, make_sound: MakeRecord) -> None:
    fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": LOW[:2]})
    Store(tmp_path / "sound").write(*make_sound())
    command = [sys.executable, "-c", WITHOUT, *READING]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "benchsuite: " not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["run infonce", "repro temo/table1 --scale smoke", "tune infonce"])
def test_training_on_windows_says_what_to_do(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "sys", SimpleNamespace(platform="win32"))
    assert exit_code(*command.split()) == 2
    assert "training needs Linux or macOS: on Windows, use WSL" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
