"""Runs of two processes by the user's commands: equal to one process, stopped, continued after a kill, joined."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from support.forked import Forked
from support.two_processes import two_process_folder

from benchsuite.records.schema import Record
from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "benchsuite"]
PLUGIN = """
import os, signal, time
from pathlib import Path
from benchsuite.methods.infonce import InfoNCE
from benchsuite import register_method

class Hurt(InfoNCE):
    def loss(self, batch, clock):
        mark = Path(__file__).with_suffix("." + self.card.name)
        if clock.step == 2 and os.environ.get("RANK") == "1" and not mark.exists():
            mark.touch()
            self.hurt()
        return super().loss(batch, clock)

@register_method("killed", title="Killed")
class Killed(Hurt):
    "Its second process is killed at its third step, once."

    def hurt(self):
        os.kill(os.getpid(), signal.SIGKILL)

@register_method("stalled", title="Stalled")
class Stalled(Hurt):
    "Its second process stalls in its third step, once."

    def hurt(self):
        time.sleep(3600)
"""
QUERY = 1.01 / 24
"""Rounding may change the order of two candidates that score alike, and so the outcome of one query of 24."""
TABLE = ["repro", "two/pair", "--scale", "tiny", "--tables", "own"]
REPRO = [*TABLE, "--plugin", "own/hurt.py", "--devices", "2"]
METHODS = ["amclr", "mm-ts-margin", "temo"]
"""State of samples, clusters, views and experts; tests/conformance runs all methods on two processes."""


def records(folder: Path) -> dict[str, Record]:
    """By method."""
    return {record.method.name: record for record in Store(folder).read().records.values()}


def unlike(one: Record, other: Record) -> tuple[dict[str, float], dict[str, float]]:
    """How far curves, relative to values above 1, and metrics of two records are apart."""
    curves = {
        name: max(abs(a - b) / max(1.0, abs(a)) for a, b in zip(values, other.curves[name], strict=True))
        for name, values in one.curves.items()
    }
    assert one.curves.keys() == other.curves.keys()
    (mine,), (theirs,) = one.results.values(), other.results.values()
    assert mine.metrics.keys() == theirs.metrics.keys()
    return curves, {name: abs(value - theirs.metrics[name]) for name, value in mine.metrics.items()}


@pytest.fixture(scope="module")
def all_methods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the records of all methods, by two processes in "two" and by one in "one"."""
    folder = tmp_path_factory.mktemp("all")
    two_process_folder(folder / "own", METHODS)
    two = [*COMMAND, *TABLE, "--devices", "2", "--results", "two"]
    done = subprocess.run(two, cwd=folder, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    code, out, err = Forked([*TABLE, "--devices", "1", "--results", "one"], folder).communicate()
    assert code == 0, err
    assert ["note: 1 process does each run of a setup for 2" in text for text in (out, done.stdout)] == [True, False]
    return folder


@pytest.mark.parametrize("name", METHODS)
def test_two_processes_give_the_record_of_one_that_plays_two_shares(all_methods: Path, name: str) -> None:
    two, one = (records(all_methods / results)[name] for results in ("two", "one"))
    assert (two.environment["processes"], one.environment["processes"]) == (2, 1)
    assert two.run_id == one.run_id
    assert two.digests == one.digests
    curves, metrics = unlike(one, two)
    assert curves.pop("gradient_norm") < 5e-3
    assert {name: gap for name, gap in curves.items() if gap > 1e-4} == {}
    assert max(metrics.values()) <= QUERY


@pytest.fixture(scope="module")
def hurt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run lost a process, and the run after it did not."""
    folder = tmp_path_factory.mktemp("hurt")
    two_process_folder(folder / "own", ["killed", "infonce", "stalled"])
    (folder / "own" / "hurt.py").write_text(PLUGIN)
    return folder


def test_a_killed_process_ends_its_run_alone_and_a_later_call_continues(hurt: Path) -> None:
    rows = ["--rows", "killed,infonce", "--checkpoint-steps", "1"]
    code, _, err = Forked([*REPRO, *rows], hurt).communicate()
    assert code == 3
    (log,) = (hurt / "runs" / "logs").glob("worker-*-rank-1.log")
    reason = f"its process of rank 1 died (killed by signal 9); see {log.relative_to(hurt)}."
    assert f"1 of 2 runs failed; the others are stored.\n  RN killed seed 0: {reason}" in err
    assert records(hurt / "runs").keys() == {"infonce"}
    code, out, err = Forked([*REPRO[:-1], "1", *rows], hurt).communicate()
    assert code == 0, err
    assert re.search("note   RN killed seed 0  goes on from step [12] of 3", err), err
    assert "2 runs, 1 to do" in out
    found = records(hurt / "runs")
    assert found.keys() == {"infonce", "killed"}
    (resumption,) = found["killed"].resumptions
    assert (resumption.from_processes, resumption.to_processes) == (2, 1)


def test_a_second_ctrl_c_ends_all_processes_though_one_of_them_stalls(hurt: Path) -> None:
    """After the first one they save their training, which a process that stalls never does."""
    command = Forked([*REPRO, "--rows", "stalled"], hurt)
    while not (hurt / "own" / "hurt.stalled").exists():
        assert command.poll() is None, command.communicate()
        time.sleep(0.05)
    started = psutil.Process(command.pid).children(recursive=True)
    assert len(started) >= 3, "a launcher and two processes"
    os.killpg(command.pid, signal.SIGINT)
    time.sleep(3)
    assert command.poll() is None
    os.killpg(command.pid, signal.SIGINT)
    code, _, told = command.communicate(timeout=200)
    assert code == 130
    assert "stopped: 0 of 1 runs are stored" in told
    assert "Traceback" not in told
    _, left = psutil.wait_procs(started, timeout=20)  # Python's own resource tracker ends a moment after its parent
    assert not [process for process in left if process.status() != psutil.STATUS_ZOMBIE]


AT_THE_END = """
import atexit, sys
import torch.distributed as dist
atexit.register(lambda: print("still in a group" if dist.is_initialized() else "has left its group", file=sys.stderr))
"""


def test_processes_that_torchrun_started_join_and_the_first_one_stores_and_prints(all_methods: Path) -> None:
    (all_methods / "at_the_end.py").write_text(AT_THE_END)
    arguments = ["run", "temo", "--recipe", "pair", "--tables", "own", "--results", "joined"]
    arguments += ["--plugin", "at_the_end.py"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    done = subprocess.run(
        [*torchrun, "-m", "benchsuite", *arguments], cwd=all_methods, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("TeMo on pair, RN, seed 0: run ") == 1
    assert done.stderr.count("start  RN temo seed 0") == 1
    assert done.stderr.count("has left its group") == 2, "processes that do not leave their group abort now and then"
    assert "still in a group" not in done.stderr
    (joined,) = records(all_methods / "joined").values()
    assert joined.environment["processes"] == 2
    assert unlike(joined, records(all_methods / "two")["temo"])[0]["loss"] < 1e-4
