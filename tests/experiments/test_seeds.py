"""What a seed promises: it changes the run, and fixes it to the last bit on one machine and its versions."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchsuite.experiments.plan import Run

ACROSS_THREADS = 5e-3
"""Relative difference of any loss between 1 and 2 threads over twelve steps; README states it."""
RUNS = """
import json, sys, torch
import benchsuite.experiments.measure as module
from benchsuite.experiments.plan import Run
from benchsuite.models.dual_encoder import weights_digest

ends, train = [], module.train
def kept(*arguments):
    trained = train(*arguments)
    ends.append(weights_digest(trained.encoder))
    return trained
module.train = kept

for run, threads in json.loads(sys.argv[1]):
    torch.set_num_threads(threads)
    record, ranks = module.measure(Run.model_validate(run))
    results = {name: one.model_dump() for name, one in record.results.items()}
    told = {"end": ends[-1], "curves": record.curves, "results": results, "ranks": record.ranks.sha256}
    print(json.dumps({**told, "digests": record.digests, "threads": record.environment["threads"]}))
"""
Told = dict[str, Any]


def told_by(hash_seed: str, *runs: tuple[Run, int]) -> list[Told]:
    """What runs give, each with its number of threads, one after another in a process of their own."""
    wanted = json.dumps([(run.model_dump(mode="json"), threads) for run, threads in runs])
    settings = {**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-c", RUNS, wanted]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"end"')]


@pytest.fixture(scope="module")
def told(tiny_run: Callable[..., Run], own_cache: Path) -> dict[str, Told]:
    one, two = (tiny_run("temo", seed) for seed in (0, 1))
    first, other = told_by("1", (one, 1), (two, 1))
    again, threaded = told_by("2", (one, 1), (one, 2))
    return {"first": first, "other": other, "again": again, "threaded": threaded}


def test_an_equal_seed_is_the_same_run_to_the_last_bit_in_another_process(told: dict[str, Told]) -> None:
    assert told["first"] == told["again"]
    assert len(told["first"]["curves"]["loss"]) == 12


def test_another_seed_is_another_run(told: dict[str, Told]) -> None:
    first, other = told["first"], told["other"]
    for part in ("end", "curves", "results", "ranks"):
        assert first[part] != other[part], part
    changed = {name for name, digest in first["digests"].items() if other["digests"][name] != digest}
    assert changed == {"initial_weights", "batches"}


def test_threads_move_losses_within_the_stated_bound_and_seeds_beyond_it(told: dict[str, Told]) -> None:
    one, two = told["first"], told["threaded"]
    assert (one["threads"], two["threads"]) == (1, 2)
    assert two["digests"] == one["digests"]
    assert two["curves"]["loss"] == pytest.approx(one["curves"]["loss"], rel=ACROSS_THREADS)
    assert told["other"]["curves"]["loss"] != pytest.approx(one["curves"]["loss"], rel=ACROSS_THREADS)
