import os
from dataclasses import replace

import pytest

from benchsuite.execution.devices import Devices
from benchsuite.execution.pool import threads

GPUS = Devices(2, gpus=("0", "1"))


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)


@pytest.mark.parametrize(("jobs", "processes", "each"), [(None, 1, 4), (None, 2, 4), (4, 1, 2), (16, 1, 1)])
def test_cores_are_shared_out_among_gpus_or_the_runs_on_them(jobs: int | None, processes: int, each: int) -> None:
    assert threads(replace(GPUS, jobs=jobs), processes) == each


@pytest.mark.parametrize("devices", [Devices(8), Devices(1, stated=True), Devices(8, jobs=1)])
def test_on_the_cpu_a_process_computes_with_one_thread(devices: Devices) -> None:
    assert threads(devices, 1) == 1


@pytest.mark.parametrize(("stated", "each"), [("3", 3), ("3,1", 3), ("0", 4), ("many", 4), ("", 4)])
def test_a_users_number_of_threads_is_kept(monkeypatch: pytest.MonkeyPatch, stated: str, each: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", stated)
    assert threads(GPUS, 1) == each
