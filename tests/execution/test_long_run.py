"""Many runs in one worker process: what one leaves open or in memory would be many times as much at the end.

BENCHSUITE_LONG_RUN=200 does so many; the bound on memory is for each run.
"""

import os
import sys
from pathlib import Path

import psutil
import pytest
from support.tiny_recipes import VECTORS

from benchsuite.execution.devices import Devices
from benchsuite.execution.events import Failed, Finished
from benchsuite.execution.pool import Pool
from benchsuite.planning.plan import make_run
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_method, resolve_setup
from benchsuite.records.checkpoints import Every, Saving

pytestmark = pytest.mark.slow

RUNS = max(40, int(os.environ.get("BENCHSUITE_LONG_RUN", "0")))
FIRST = 10
"""Runs in which libraries still load what they need, and caches fill."""
METHODS = ("infonce", "sogclr", "temo", "ts", "cwcl")
MOST = 200_000
"""Bytes that a run may leave: the smallest of its tensors that matters, a memory of sogclr or a tower, has more."""


def worker() -> psutil.Process:
    """Of this process's children; multiprocessing has one of its own."""
    (found,) = (child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline()))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors of another process are counted in /proc")
def test_a_worker_is_after_many_runs_as_it_was_after_few(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(VECTORS)
    setup = resolve_setup(read_recipe(str(tmp_path / "tiny.toml")), "mlp")  # on one world: a worker keeps eight open
    parts = [resolve_method(name, {}, 1.0) for name in METHODS]
    runs = [make_run(setup, parts[n % len(METHODS)], n // len(METHODS), f"run {n}", 0.0) for n in range(RUNS)]
    pool = Pool(Devices(1, jobs=1), tmp_path / "logs", (), Saving(tmp_path, Every(None, 1)))
    processes, descriptors, memory = set(), [], []
    for event in pool.execute(runs):
        assert not isinstance(event, Failed), event.reason
        if isinstance(event, Finished):
            process = worker()  # idle: the next run is given when this loop goes on
            processes.add(process.pid)
            descriptors.append(process.num_fds())
            memory.append(process.memory_full_info().uss)
    assert (len(processes), len(memory)) == (1, RUNS)
    # the least of several: on a busy machine one may still be open for a moment after a run
    assert min(descriptors[-FIRST:]) == min(descriptors[FIRST : 2 * FIRST]), descriptors
    grown = min(memory[-FIRST:]) - min(memory[FIRST : 2 * FIRST])
    assert grown < MOST * (RUNS - 2 * FIRST), f"{grown / RUNS:.0f} bytes a run of {memory}"
