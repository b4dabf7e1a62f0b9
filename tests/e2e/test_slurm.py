"""Runs as jobs of a real SLURM of one node: submitted, watched, left, collected, lost, queued again."""

import json
import math
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import tiny_tuning
from support.forked import Forked
from support.slurm_node import CannotStartError, Node, start, until

from benchsuite.records.schema import Record
from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

TABLE = """
file_format = 1
paper = "mine"
table = "jobs"
locator = "Table 1"
title = "Jobs"
recipes = { latents = "vectors" }
parts.one = {}
parts.two = { variant = "two" }

[[columns]]
key = "one"
group = "Test"
label = "one process"
measure = "retrieval.t2i_r1"
part = "one"

[[columns]]
key = "two"
group = "Test"
label = "two processes"
measure = "retrieval.t2i_r1"
part = "two"

[[rows]]
label = "Held"
backbone = "mlp"
method = "held"

[[rows]]
label = "Faulty"
backbone = "mlp"
method = "faulty"
"""
TWO = """
[variants.two]
description = "two processes"
change = { training.processes = 2 }
"""
PLUGIN = """
import os
import signal
import time
from pathlib import Path

from benchsuite import Method, register_method
from benchsuite.objectives.softmax import info_nce


@register_method("held", title="Held")
class Held(Method):
    "InfoNCE that waits in its second step until a file is there."

    def loss(self, batch, clock):
        while clock.step == 1 and not Path(os.environ["TEST_GATE"]).exists():
            time.sleep(0.05)
        return info_nce(batch.image @ batch.text.T, 0.1)


@register_method("told", title="Told")
class Told(Method):
    "InfoNCE that waits in its second step until a file is there or the process gets a signal."

    def loss(self, batch, clock):
        told = []
        heeded = signal.getsignal(signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, lambda *call: told.append(heeded(*call)))
        while clock.step == 1 and not told and not Path(os.environ["TEST_GATE"]).exists():
            time.sleep(0.05)
        signal.signal(signal.SIGUSR1, heeded)
        return info_nce(batch.image @ batch.text.T, 0.1)


@register_method("faulty", title="Faulty")
class Faulty(Method):
    "InfoNCE with a fault in its second step."

    def loss(self, batch, clock):
        return info_nce(batch.image @ batch.text.T, self.missing if clock.step == 1 else 0.1)
"""
REPRO = ["repro", "mine/jobs", "--scale", "latents", "--trials", "0", "--tables", "mine"]
SLURM = ["--cluster", "slurm", "--plugin", "mine.py"]
HELD = [*REPRO, *SLURM, "--rows", "held", "--seeds", "2", "--max-jobs", "3"]
RUNS = 4
LONG = 400
"""Seconds that a job may take to start, or to end, on a busy machine."""


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    """SLURM, or why there is none. With BENCHSUITE_SLURM=required its absence is a failure."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        node = start(folder)
    except CannotStartError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("BENCHSUITE_SLURM") == "required":
            raise
        pytest.skip(f"no SLURM on this machine: {error}")
    try:
        yield node
    finally:
        node.stop()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def jobs(self) -> list[str]:
        """Jobs of runs that it found or submitted."""
        return re.findall(r"^queue .* job (\S+)$", self.err, re.M)


class Desk:
    """A user's folder on the cluster's login node."""

    def __init__(self, folder: Path, node: Node) -> None:
        self.folder, self.node, self.gate = folder, node, folder / "gate"
        mine = tiny_tuning.own_folder(folder / "mine")
        (mine / "papers" / "mine" / "jobs.toml").write_text(TABLE)
        recipe = mine / "recipes" / "vectors.toml"
        recipe.write_text(recipe.read_text() + TWO)
        (folder / "mine.py").write_text(PLUGIN)

    def start(self, arguments: Sequence[str]) -> Forked:
        return Forked(arguments, self.folder, SLURM_CONF=str(self.node.config), TEST_GATE=str(self.gate))

    def end(self, process: Forked) -> Ended:
        return Ended(*process.communicate(timeout=LONG))

    def call(self, arguments: Sequence[str]) -> Ended:
        return self.end(self.start(arguments))

    def started(self, process: Forked) -> None:
        """Wait until a run of the command is in the second step."""
        until(lambda: process.poll() is not None or bool(self.steps()), LONG, "a job steps")
        assert process.poll() is None, process.err

    def steps(self) -> list[int]:
        """Finished steps of runs under way."""
        found = []
        for file in self.folder.glob("runs/cluster/runs/*/*/status.json"):
            step = json.loads(file.read_text())["step"]
            found += [step] if step else []
        return found

    def records(self) -> list[Record]:
        return list(Store(self.folder / "runs").read().records.values())


@pytest.fixture(scope="module")
def desk(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Of the first test, which leaves its records to the others."""
    return Desk(tmp_path_factory.mktemp("desk"), node)


@pytest.fixture
def own_desk(node: Node, tmp_path: Path) -> Iterator[Desk]:
    yield Desk(tmp_path, node)
    node.ask("scancel", "--user", str(os.getuid()))
    until(lambda: not node.jobs(), LONG, "jobs end")


@dataclass(frozen=True)
class Left:
    """A table that was left by Ctrl-C, watched again, killed, and then collected."""

    interrupted: Ended
    waiting: dict[str, str]
    """Jobs after that."""
    killed: Ended
    collected: Ended


@pytest.fixture(scope="module")
def left(desk: Desk) -> Left:
    process = desk.start(HELD)
    desk.started(process)
    process.send_signal(signal.SIGINT)
    interrupted = desk.end(process)
    waiting = desk.node.jobs()
    forget_answers(desk.folder / "runs" / "cluster")
    process = desk.start(HELD)
    until(lambda: process.poll() is not None or process.err.count("queue ") == RUNS, LONG, "the jobs are found again")
    time.sleep(2)
    process.send_signal(signal.SIGKILL)
    killed = desk.end(process)
    desk.gate.touch()
    until(lambda: not desk.node.jobs(), LONG, "the jobs end without a command that watches them")
    return Left(interrupted, waiting, killed, desk.call(HELD))


def forget_answers(cluster: Path) -> None:
    """As if the command had been killed before it wrote what SLURM answered to its second submission."""
    jobs = {file: json.loads(file.read_text()) for file in cluster.glob("runs/*/*/job.json")}
    second = max(content["job"] for content in jobs.values()).partition("_")[0]
    for file, content in jobs.items():
        if content["job"].startswith(f"{second}_"):
            file.write_text(json.dumps({**content, "job": None}))


def test_ctrl_c_leaves_the_jobs_and_says_what_to_do_with_them(left: Left) -> None:
    assert left.interrupted.code == 130, left.interrupted.err
    assert len(left.waiting) == RUNS
    assert set(left.interrupted.jobs) == set(left.waiting)
    arrays = sorted({job.partition("_")[0] for job in left.interrupted.jobs})
    assert sorted(left.waiting) == [f"{array}_{index}" for array in arrays for index in (0, 1)]
    assert "stopped watching: 0 of 4 runs are stored in runs; 4 jobs go on." in left.interrupted.err
    assert f"watch:   squeue --jobs {','.join(arrays)}" in left.interrupted.err
    assert f"cancel:  scancel {' '.join(f'{array}_[0,1]' for array in arrays)}" in left.interrupted.err
    assert "collect: the same command" in left.interrupted.err
    assert "Traceback" not in left.interrupted.err


def test_the_same_command_watches_the_same_jobs(left: Left) -> None:
    assert left.killed.code == -signal.SIGKILL
    assert set(left.killed.jobs) == set(left.interrupted.jobs)


def test_what_jobs_measured_while_nobody_watched_is_collected(left: Left, desk: Desk) -> None:
    assert left.collected.code == 0, left.collected.err
    assert left.collected.err.count("done ") == RUNS
    assert "page: " in left.collected.out
    assert len(desk.records()) == RUNS
    until(lambda: not desk.node.jobs(), LONG, "the jobs end")


def test_two_processes_measure_what_one_does(left: Left, desk: Desk) -> None:
    records = [record for record in desk.records() if record.seed == 1]
    one, two = sorted(records, key=lambda record: record.setup.training.processes)
    assert [record.environment["processes"] for record in (one, two)] == [1, 2]
    assert one.digests == two.digests
    losses = [record.curves["loss"] for record in (one, two)]
    assert all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(*losses, strict=True) if a is not None)


def test_nothing_of_a_stored_run_stays_in_the_cluster_folder(left: Left, desk: Desk) -> None:
    cluster = desk.folder / "runs" / "cluster"
    assert list((cluster / "runs").iterdir()) == []
    assert list((cluster / "slurm").iterdir()) == []


def test_a_failing_job_is_one_line_with_reason_and_log(own_desk: Desk) -> None:
    options = own_desk.folder / "cluster.toml"
    options.write_text('partition = "main"\ngpus_per_node = 2\nsetup = ["echo set up"]\n')
    command = [*REPRO, *SLURM, "--rows", "faulty", "--seeds", "1", "--cluster-options", str(options)]
    ended = own_desk.call([*command, "--cluster-option", "cpus_per_task=1", "--max-jobs", "1"])
    assert ended.code == 3
    lines = [line for line in ended.err.splitlines() if line.startswith("failed ")]
    assert len(lines) == 2
    for line in lines:
        log = re.search(r"'missing' \(mine\.py, line \d+\) \(job \d+; log: (.*)\)$", line)
        assert log, ended.err
        assert "AttributeError" in Path(log[1]).read_text()
        assert "set up" in Path(log[1]).read_text()
    assert "2 of 2 runs failed" in ended.err
    assert "Traceback" not in ended.err
    again = own_desk.call([*command, "--dry-run"])
    assert "2 to do" in again.out, again.out + again.err


def test_a_cancelled_job_is_named_and_submitted_again_by_the_next_call(own_desk: Desk) -> None:
    process = own_desk.start(["run", "held", "--recipe", "vectors", "--tables", "mine", *SLURM])
    own_desk.started(process)
    (job,) = own_desk.node.jobs()
    own_desk.node.ask("scancel", job)
    ended = own_desk.end(process)
    assert ended.code == 3, ended.err
    assert f"its job {job} ended as CANCELLED and left no record" in ended.err
    assert "The same command submits it again." in ended.err
    own_desk.gate.touch()
    ended = own_desk.call(["run", "held", "--recipe", "vectors", "--tables", "mine", *SLURM])
    assert ended.code == 0, ended.err
    assert ended.jobs != [job]
    assert len(own_desk.records()) == 1


def test_a_job_told_to_stop_before_its_time_limit_is_queued_again_and_goes_on(own_desk: Desk) -> None:
    limit = ["--cluster-option", "time=3", "--cluster-option", "signal_seconds=50"]
    process = own_desk.start(["run", "told", "--recipe", "vectors", "--tables", "mine", *SLURM, *limit])
    own_desk.started(process)
    (job,) = own_desk.node.jobs()
    until(lambda: "Restarts=1" in own_desk.node.ask("scontrol", "show", "job", job), LONG, "the job is queued again")
    ended = own_desk.end(process)
    assert ended.code == 0, ended.err
    assert ended.jobs == [job]
    assert "goes on from step" in ended.err
    (record,) = own_desk.records()
    assert [resumption.step for resumption in record.resumptions] != []


def test_a_partition_that_does_not_exist_is_named_and_nothing_is_submitted(own_desk: Desk) -> None:
    before = own_desk.node.ask("squeue", "-h", "-r", "-t", "all", "-o", "%i")
    for more in ([], ["--dry-run"]):
        ended = own_desk.call([*HELD, "--cluster-option", "partition=mian", *more])
        assert ended.code == 2
        message = '--cluster slurm: partition "mian" does not exist (known: main). Did you mean "main"?'
        assert ended.err == f"benchsuite: {message}\n"
    after = own_desk.node.ask("squeue", "-h", "-r", "-t", "all", "-o", "%i")
    assert set(after.split()) <= set(before.split()), "SLURM forgets old ones"
    assert not (own_desk.folder / "runs").exists()


def test_jobs_are_submitted_all_or_none(own_desk: Desk) -> None:
    """The run of two processes needs two nodes here, and the cluster has one. That of one process comes first."""
    ended = own_desk.call([*HELD, "--cluster-option", "processes_per_node=1"])
    assert ended.code == 2
    assert "the cluster refused the jobs: " in ended.err
    assert len(ended.err.splitlines()) == 1
    until(lambda: not own_desk.node.jobs(), LONG, "the jobs end")
    assert list(own_desk.folder.glob("runs/cluster/runs/*")) == []
    assert own_desk.records() == []
