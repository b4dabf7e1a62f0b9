import os

import pytest

from benchsuite.experiments.pool import threads


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
