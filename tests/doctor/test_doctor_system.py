"""What a fresh machine may lack, each explained with what to do."""

import tempfile
from email.message import Message
from http.client import InvalidURL
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock
from urllib.error import HTTPError, URLError

import pytest

from benchsuite import running
from benchsuite.doctor import machine

SEES_NONE = {"devices": [], "version": "2.13.0", "cuda": "13.0"}


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name, first on the path."""
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 470.57.02\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return program


def test_nothing_is_a_problem_here(tmp_path: Path) -> None:
    lines = [*machine.system(tmp_path), machine.operating_system(), machine.shared_memory()]
    assert [line.what for line in lines if line.status == "problem"] == []


def test_a_system_that_cannot_train_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "sys", SimpleNamespace(platform="win32"))
    line = machine.operating_system()
    assert line.status == "problem"
    assert "use WSL" in line.todo


def test_shared_memory_that_is_missing_or_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "SHARED", tmp_path / "shm")
    missing = machine.shared_memory()
    assert (missing.status, "is missing" in missing.found) == ("note", True)
    (tmp_path / "shm").mkdir()
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: SimpleNamespace(free=64 * 2**20))
    small = machine.shared_memory()
    assert (small.status, small.found) == ("note", f"64 MiB free at {tmp_path / 'shm'}")
    assert all("--shm-size" in line.todo and "--workers 0" in line.todo for line in (missing, small))


def test_a_disk_that_is_nearly_full_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_disk", lambda folder: 2**29)
    disks = {line.what: line for line in machine.system(tmp_path) if "GiB free at" in line.found}
    assert {line.status for line in disks.values()} == {"note"}
    assert disks["disk for results"].todo == "Make room, or change --results."
    assert disks["temporary files"].todo == "Make room, or change TMPDIR."
    monkeypatch.setattr(machine, "free_disk", lambda folder: 3 * 2**29)
    assert {line.status for line in machine.system(tmp_path) if line.what.startswith("disk")} == {"ok"}


def test_no_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    *_, line = machine.system(tmp_path)
    assert (line.status, line.what, line.todo) == ("problem", "temporary files", "Name another folder with TMPDIR.")
    assert "No usable temporary directory found" in line.found


def test_a_driver_that_is_too_old_is_named_with_both_versions(nvidia_smi: Path) -> None:
    (line,) = machine.driver(SEES_NONE)
    assert line.found.startswith("470.57.02, but torch 2.13.0 for CUDA 13.0 sees no GPU")
    assert "older CUDA" in line.todo


def test_a_build_without_cuda_beside_a_driver(nvidia_smi: Path) -> None:
    (line,) = machine.driver({**SEES_NONE, "cuda": None})
    assert "a build without CUDA" in line.found


def test_a_driver_that_does_not_answer(nvidia_smi: Path) -> None:
    nvidia_smi.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    (line,) = machine.driver(SEES_NONE)
    assert "does not answer" in line.found
    assert "--gpus all" in line.todo


@pytest.mark.parametrize("torch", [{"error": "ImportError"}, {**SEES_NONE, "devices": [{"name": "H200"}]}])
def test_nothing_is_said_of_a_driver_that_works(nvidia_smi: Path, torch: dict[str, object]) -> None:
    assert list(machine.driver(torch)) == []


def test_a_hub_that_refuses_is_there_and_one_that_does_not_answer_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in machine.OFFLINE:
        monkeypatch.delenv(name, raising=False)
    for error, status in (
        (HTTPError("u", 403, "no", Message(), None), "ok"),
        (URLError("no route"), "note"),
        (InvalidURL("a b"), "note"),
    ):
        monkeypatch.setattr("urllib.request.urlopen", Mock(side_effect=error))
        assert machine.hub().status == status
