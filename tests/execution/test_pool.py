import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.execution.devices import Devices
from benchsuite.execution.pool import Pool, threads


@pytest.mark.parametrize(("processors", "processes", "each"), [(8, 2, 4), (8, 3, 2), (2, 4, 1), (None, 1, 1)])
def test_threads_are_shared_out_among_all_processes(
    monkeypatch: pytest.MonkeyPatch, processors: int | None, processes: int, each: int
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert threads(processes) == each


@pytest.mark.parametrize(("stated", "each"), [("3", 3), ("3,1", 3), ("0", 4), ("many", 4), ("", 4)])
def test_a_users_number_of_threads_is_kept(monkeypatch: pytest.MonkeyPatch, stated: str, each: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", stated)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert threads(2) == each


def test_stored_runs_that_these_devices_could_not_do_are_no_obstacle(tmp_path: Path) -> None:
    def run(processes: int) -> SimpleNamespace:
        return SimpleNamespace(setup=SimpleNamespace(training=SimpleNamespace(processes=processes)))

    stored: Any = run(4)
    events = Pool(Devices(3, stated=True), tmp_path).execute([], [stored])
    assert list(events) == []
