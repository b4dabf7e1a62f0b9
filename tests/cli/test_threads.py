"""A run computes with one thread unless the user says otherwise, and threads that wait leave their core to others."""

import os
from pathlib import Path

import pytest
import torch
from support import tiny_tuning
from support.commands import exit_code

from benchsuite.folders import use_folders
from benchsuite.records.store import Store

REPRO = ("repro", tiny_tuning.NAME, "--scale", "latents", "--tables", "own", "--rows", "TS", "--trials", "0")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight cores."""
    use_folders([tiny_tuning.own_folder(tmp_path / "own")])
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("stated", "threads"), [("", 1), ("2", 2)])
def test_the_process_that_plans_checks_and_measures(monkeypatch: pytest.MonkeyPatch, stated: str, threads: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", stated)
    torch.set_num_threads(3)
    try:
        assert exit_code(*REPRO, "--replicates", "1", "--dry-run") == 0
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(1)
    assert os.environ["OMP_WAIT_POLICY"] == "passive"


@pytest.mark.slow
def test_a_run_that_is_done_alone() -> None:
    assert exit_code(*REPRO, "--seed", "0") == 0
    assert {record.environment["threads"] for record in Store(Path("runs")).read().records.values()} == {1}
