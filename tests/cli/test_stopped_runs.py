"""A long run through the command: killed, asked to stop, and gone on with, against one that was left alone."""

import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.forked import Forked
from support.in_process import in_this_process

from benchsuite.records.checkpoints import checkpoints_in
from benchsuite.records.schema import Resumption
from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

STEPS, EVERY = 600, 50
RECIPE = f"""
title = "long vectors"
track = "latents"
description = "long enough to be stopped"
seeds = 1
projection = {{ width = 16 }}
data = {{ name = "latents", options = {{ train = 300, validation = 20, test = 60, galleries = 60 }} }}
optimizer = {{ lr = 1e-3 }}
training = {{ batch = 32, steps = {STEPS} }}
text = {{ mlp = {{ layers = 1, hidden = 16 }} }}
backbones.mlp = {{ description = "an MLP", tower = {{ mlp = {{ layers = 2, hidden = 16 }} }} }}
protocols.retrieval = {{ task = "retrieval", every = 75 }}
"""
RUN = ["run", "isogclr", "--recipe", "long.toml"]
OFTEN = ["--checkpoint-steps", str(EVERY)]
MEASURED = {"created", "cost", "digest", "resumptions"}
"""Keys in which the two records may differ."""


def terminate_worker(command: Forked) -> None:
    (worker,) = psutil.Process(command.pid).children()
    worker.terminate()


STOPS: Mapping[str, Callable[[Forked], object]] = {
    "terminated": lambda command: command.send_signal(signal.SIGTERM),
    "worker terminated": terminate_worker,
}


@dataclass(frozen=True)
class Runs:
    """What the commands left."""

    folder: Path
    alone: Mapping[str, Any]
    stopped: Mapping[str, Any]
    ended: Mapping[str, tuple[int, str]]
    """Exit code and progress of the commands that were stopped."""

    @property
    def resumptions(self) -> list[Resumption]:
        return [Resumption.model_validate(each) for each in self.stopped["resumptions"]]


def wait_for_checkpoint(process: Forked, results: Path, beyond: int) -> int:
    """Until one of a later step than `beyond` is there; its step."""
    while True:
        assert process.poll() is None, process.communicate()
        steps = [int(path.name[5:]) for run in results.glob("checkpoints/*") for path in checkpoints_in(run)]
        if steps and max(steps) > beyond:
            return max(steps)
        time.sleep(0.01)


def record(results: Path) -> dict[str, Any]:
    (file,) = (file for file in results.glob("*.json"))
    content: dict[str, Any] = json.loads(file.read_text())
    return content


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("long")
    (folder / "long.toml").write_text(RECIPE)
    in_this_process(folder, *RUN, "--results", "alone")
    stoppable = [*RUN, *OFTEN, "--results", "stopped"]
    process = Forked(stoppable, folder)
    step = wait_for_checkpoint(process, folder / "stopped", EVERY)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    ended = {}
    for name, stop in STOPS.items():
        process = Forked(stoppable, folder)
        step = wait_for_checkpoint(process, folder / "stopped", step + EVERY)
        stop(process)
        code, _, told = process.communicate()
        ended[name] = code, told
    in_this_process(folder, *stoppable)
    return Runs(folder, record(folder / "alone"), record(folder / "stopped"), ended)


def test_the_record_is_that_of_a_run_left_alone(runs: Runs) -> None:
    assert "resumptions" not in runs.alone
    assert runs.alone.keys() == runs.stopped.keys() - {"resumptions"}
    for key in runs.alone.keys() - MEASURED:
        assert runs.stopped[key] == runs.alone[key], key
    probed = [value for value in runs.alone["curves"]["retrieval.t2i_r1"] if value is not None]
    assert len(probed) == STEPS // 75


def test_the_record_says_where_it_went_on_and_is_valid(runs: Runs) -> None:
    steps = [resumption.step for resumption in runs.resumptions]
    assert len(steps) == 1 + len(STOPS)
    assert steps[0] % EVERY == 0
    assert steps == sorted(set(steps))
    assert steps[-1] < STEPS
    assert {each.from_processes for each in runs.resumptions} == {each.to_processes for each in runs.resumptions} == {1}
    assert not Store(runs.folder / "stopped").read().errors
    assert runs.stopped["run_id"] in Store(runs.folder / "stopped").read().records


@pytest.mark.parametrize("name", STOPS)
def test_asked_to_stop_it_saves_the_step_it_is_in_and_says_so(runs: Runs, name: str) -> None:
    number = list(STOPS).index(name)
    before, after = (each.step for each in runs.resumptions[number : number + 2])
    ended, told = runs.ended[name]
    assert ended == 75
    assert f"note   mlp isogclr seed 0  goes on from step {before} of {STEPS}" in told
    assert "stopped: 0 of 1 runs are stored in stopped, and trainings are saved: " in told
    assert f"mlp isogclr seed 0 at step {after}. The same command continues" in told


def test_costs_add_up(runs: Runs) -> None:
    """The steps after the last checkpoint before a kill are lost, and their cost with them."""
    assert runs.stopped["cost"].keys() == runs.alone["cost"].keys()
    assert runs.stopped["cost"]["cpu_seconds"] > 0.3 * runs.alone["cost"]["cpu_seconds"]


def test_the_folder_has_no_checkpoints_once_the_record_is_stored(runs: Runs) -> None:
    assert sorted(path.name for path in (runs.folder / "stopped").iterdir() if path.is_dir()) == ["logs"]


def test_a_short_run_saves_nothing(runs: Runs) -> None:
    assert not (runs.folder / "alone" / "checkpoints").exists()
