import os

import pytest

from benchsuite.experiments.pool import threads


@pytest.mark.parametrize(("processors", "processes", "each"), [(8, 2, 4), (8, 3, 2), (2, 4, 1), (None, 1, 1)])
def test_threads_are_shared_out_among_all_processes(
    monkeypatch: pytest.MonkeyPatch, processors: int | None, processes: int, each: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert threads(processes) == each
