import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.experiments.pool import Pool, Worker


@pytest.mark.parametrize(("processors", "jobs", "threads"), [(8, 2, 4), (8, 3, 2), (2, 4, 1), (None, 1, 1)])
def test_threads_are_shared_out_among_the_workers(
    monkeypatch: pytest.MonkeyPatch, processors: int | None, jobs: int, threads: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert Pool(jobs, Path("logs")).threads == threads


@pytest.mark.parametrize(("code", "how"), [(-9, "killed by signal 9"), (3, "exit code 3")])
def test_a_worker_that_died_fails_its_run_and_says_how(code: int, how: str) -> None:
    process: Any = SimpleNamespace(join=lambda: None, exitcode=code)
    run: Any = "a run"
    failed = Pool._died(Worker(process, pipe=None, log=Path("worker.log"), run=run))  # type: ignore[arg-type]
    assert failed.run == run
    assert failed.reason == f"its worker process died ({how}); see worker.log"
