"""What a machine can do, told where libraries work and where they are broken."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import exit_code

import benchsuite

Told = dict[str, dict[str, str]]
ROOT = str(Path(benchsuite.__file__).parents[1])


def doctor(*arguments: object, first: Path | None = None, **variables: str) -> tuple[int, str, str]:
    """The real command in a process of its own, where modules in `first` hide installed ones."""
    paths = [str(first) if first else "", ROOT, os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", **variables, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", "benchsuite", "doctor", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout, done.stderr


def by_what(out: str) -> Told:
    return {line["what"]: line for line in json.loads(out)}


@pytest.mark.slow
def test_a_machine_on_which_all_works(tmp_path: Path) -> None:
    code, out, err = doctor("--json", "--results", tmp_path / "runs")
    told = by_what(out)
    assert (code, err) == (0, "")
    assert {line["status"] for line in told.values()} <= {"ok", "note"}
    for what in ("Python", "cores", "memory", "disk for results", "import torch", "import deepspeed", "SLURM"):
        assert told[what]["found"]
    assert "gloo" in told["several processes"]["found"]
    assert told["hub"]["status"] == "note"
    assert "HF_HUB_OFFLINE" in told["hub"]["found"]
    assert not (tmp_path / "runs").exists()


BROKEN = {
    "torch": ("raise ImportError('libcudart.so.13: cannot open shared object file')", "libcudart.so.13"),
    "deepspeed": ("raise RuntimeError('no compiler')", "RuntimeError: no compiler"),
    "transformers": ("import os; os._exit(7)", "importing it ended the process (exit code 7)"),
}


@pytest.mark.slow
def test_broken_libraries_are_told_without_a_traceback(tmp_path: Path) -> None:
    for module, (content, _) in BROKEN.items():
        (tmp_path / "broken" / module).mkdir(parents=True)
        (tmp_path / "broken" / module / "__init__.py").write_text(content)
    code, out, err = doctor("--json", "--results", tmp_path / "runs", first=tmp_path / "broken")
    assert (code, err) == (1, "")
    for module, (_, error) in BROKEN.items():
        line = by_what(out)[f"import {module}"]
        assert line["status"] == "problem"
        assert error in line["found"]
        assert f"pip install --force-reinstall {module}" in line["todo"]


@pytest.mark.slow
def test_the_quick_lines_need_no_torch(tmp_path: Path) -> None:
    program = f"""
import sys
from benchsuite.doctor.machine import examined
from pathlib import Path
lines = examined(Path({str(tmp_path)!r}))
for line in lines:
    if line.what == "hub":
        assert "torch" not in sys.modules
list(lines)
assert "torch" not in sys.modules
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ROOT}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    tmp_path.chmod(0o500)
    assert exit_code("doctor", "--results", tmp_path / "runs") == 1
    assert "cannot be written to. Name another folder with --results" in capsys.readouterr().out
