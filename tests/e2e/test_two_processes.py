"""Runs of two processes by the user's commands: equal to one process, stopped, continued after a kill, joined."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from support.two_processes import two_process_folder

from benchsuite.records.checkpoints import checkpoints_in, folder_of
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
        if clock.step == 1 and os.environ.get("RANK") == "1" and not mark.exists():
            mark.touch()
            self.hurt()
        return super().loss(batch, clock)

@register_method("killed", title="Killed")
class Killed(Hurt):
    "Its second process is killed at its second step, once."

    def hurt(self):
        os.kill(os.getpid(), signal.SIGKILL)

@register_method("stalled", title="Stalled")
class Stalled(Hurt):
    "Its second process stalls in its second step, once."

    def hurt(self):
        time.sleep(3600)
"""
QUERY = 1.01 / 24
"""Rounding may change the order of two candidates that score alike, and so the outcome of one query of 24."""
TABLE = ["repro", "two/pair", "--scale", "tiny", "--tables", "own"]
REPRO = [*TABLE, "--plugin", "own/hurt.py", "--devices", "2"]
MEASURED = {"created", "cost", "digest", "resumptions"}
"""Keys in which the records of a run that was stopped and of one that was not may differ."""
STEPS, EVERY = 60, 10
METHODS = ["amclr", "mm-ts-margin", "temo"]
"""State of samples, clusters, views and experts; tests/conformance runs all methods on two processes."""


def run(folder: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, **variables},
        timeout=1800,
    )


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
    for devices, results in (("2", "two"), ("1", "one")):
        done = run(folder, *TABLE, "--devices", devices, "--results", results)
        assert done.returncode == 0, done.stderr
        assert ("note: 1 process does each run of a setup for 2" in done.stdout) == (results == "one")
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
    done = run(hurt, *REPRO, "--rows", "killed,infonce")
    assert done.returncode == 3
    (log,) = (hurt / "runs" / "logs").glob("worker-*-rank-1.log")
    reason = f"its process of rank 1 died (killed by signal 9); see {log.relative_to(hurt)}."
    assert f"1 of 2 runs failed; the others are stored.\n  RN killed seed 0: {reason}" in done.stderr
    assert records(hurt / "runs").keys() == {"infonce"}
    again = run(hurt, *REPRO[:-1], "1", "--rows", "killed,infonce")
    assert again.returncode == 0, again.stderr
    assert "2 runs, 1 to do" in again.stdout
    assert records(hurt / "runs").keys() == {"infonce", "killed"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the records of a table in "alone", and in "stopped" those of one that was killed and continued."""
    folder = tmp_path_factory.mktemp("table")
    two_process_folder(folder / "own", ["infonce-learnable"], steps=STEPS, zero_stage=1)
    alone = run(folder, *TABLE, "--devices", "2", "--results", "alone", "--checkpoint-minutes", "0")
    assert alone.returncode == 0, alone.stderr
    command = [*TABLE, "--devices", "2", "--results", "stopped", "--checkpoint-steps", str(EVERY)]
    killed = subprocess.Popen(
        [*COMMAND, *command], cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    place = folder_of(folder / "stopped", records(folder / "alone")["infonce-learnable"].run_id)
    wait_for(lambda: bool(checkpoints_in(place)), killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    again = run(folder, *command)
    assert again.returncode == 0, again.stderr
    assert "note   RN infonce-learnable seed 0  goes on from step " in again.stderr
    return folder


def test_a_table_that_was_killed_and_called_again_has_the_record_of_one_that_was_not(table: Path) -> None:
    alone, stopped = (
        records(table / results)["infonce-learnable"].model_dump(mode="json", exclude_unset=True)
        for results in ("alone", "stopped")
    )
    (went_on,) = (each["step"] for each in stopped["resumptions"])
    assert 0 < went_on < STEPS
    assert went_on % EVERY == 0
    assert alone["environment"]["processes"] == 2
    assert stopped.keys() - MEASURED == alone.keys() - MEASURED
    for key in alone.keys() - MEASURED:
        assert stopped[key] == alone[key], key


def test_a_second_ctrl_c_ends_all_processes_though_one_of_them_stalls(hurt: Path) -> None:
    """After the first one they save their training, which a process that stalls never does."""
    command = subprocess.Popen(
        [*COMMAND, *REPRO, "--rows", "stalled"],
        cwd=hurt,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_for(lambda: (hurt / "own" / "hurt.stalled").exists(), command)
    started = psutil.Process(command.pid).children(recursive=True)
    assert len(started) >= 3, "a launcher and two processes"
    os.killpg(command.pid, signal.SIGINT)
    time.sleep(3)
    assert command.poll() is None
    os.killpg(command.pid, signal.SIGINT)
    told = command.communicate(timeout=200)[1]
    assert command.returncode == 130
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


def wait_for(condition: Callable[[], bool], command: "subprocess.Popen[str]") -> None:
    while not condition():
        assert command.poll() is None, command.communicate()
        time.sleep(0.05)
