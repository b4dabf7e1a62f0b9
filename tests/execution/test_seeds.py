"""What a seed promises: it changes the run, and fixes it to the last bit on one machine and its versions."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import benchsuite.execution.measure as module
from benchsuite.models.towers import weights_digest
from benchsuite.planning.plan import Run

ACROSS_THREADS = 5e-3
"""Relative difference of any loss between 1 and 2 threads over twelve steps; README states it."""
Outcome = dict[str, Any]


def outcome(run: Run, threads: int) -> Outcome:
    """What a run ends in, as plain data."""
    ends, train, before = [], module.train, torch.get_num_threads()

    def watched(*arguments: Any) -> Any:
        trained = train(*arguments)
        ends.append(weights_digest(trained.encoder))
        return trained

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "train", watched)
        torch.set_num_threads(threads)
        record, _ = module.measure(run)
        torch.set_num_threads(before)
    results = {name: result.model_dump() for name, result in record.results.items()}
    values = {"end": ends[-1], "curves": record.curves, "results": results, "ranks": record.ranks.sha256}
    return {**values, "digests": record.digests, "threads": record.environment["threads"]}


def in_another_process(run: Run, threads: int) -> Outcome:
    """The same, in a new process whose hashes of strings are others."""
    settings = {**os.environ, "PYTHONHASHSEED": "1", "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, __file__, json.dumps(run.model_dump(mode="json")), str(threads)]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def outcomes(tiny_run: Callable[..., Run], own_cache: Path) -> dict[str, Outcome]:
    first, other = (tiny_run("temo", seed) for seed in (0, 1))
    here = {"first": outcome(first, 1), "other": outcome(other, 1), "threaded": outcome(first, 2)}
    return json.loads(json.dumps(here))


@pytest.mark.slow
def test_an_equal_seed_is_the_same_run_to_the_last_bit_in_another_process(
    outcomes: dict[str, Outcome], tiny_run: Callable[..., Run]
) -> None:
    assert outcomes["first"] == in_another_process(tiny_run("temo", 0), 1)
    assert len(outcomes["first"]["curves"]["loss"]) == 12


def test_another_seed_is_another_run(outcomes: dict[str, Outcome]) -> None:
    first, other = outcomes["first"], outcomes["other"]
    for part in ("end", "curves", "results", "ranks"):
        assert first[part] != other[part], part
    changed = {name for name, digest in first["digests"].items() if other["digests"][name] != digest}
    assert changed == {"initial_weights", "batches"}


def test_threads_move_losses_within_the_stated_bound_and_seeds_beyond_it(outcomes: dict[str, Outcome]) -> None:
    single, double = outcomes["first"], outcomes["threaded"]
    assert (single["threads"], double["threads"]) == (1, 2)
    assert double["digests"] == single["digests"]
    assert double["curves"]["loss"] == pytest.approx(single["curves"]["loss"], rel=ACROSS_THREADS)
    assert outcomes["other"]["curves"]["loss"] != pytest.approx(single["curves"]["loss"], rel=ACROSS_THREADS)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(outcome(Run.model_validate_json(sys.argv[1]), int(sys.argv[2]))))
