"""Checks before the first step of any run, so that nothing fails late. Nothing is trained or evaluated.

For each setup and method: what the protocols read of their data, what the method needs, the size of the batch, one dry
pass, memory for the objective, and disk for records and weights. All problems are found before one is
reported.
"""

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any, TypeVar, cast

from benchsuite.data import PairDataset
from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan, no_paraphrases
from benchsuite.data.prepared import labelled_clusters, require_embedding
from benchsuite.errors import BenchsuiteError, UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.execution.devices import Devices
from benchsuite.execution.dry_pass import DryPass, Objective
from benchsuite.execution.events import unexpected
from benchsuite.execution.measure import TRAIN
from benchsuite.execution.space import FLOAT, free_disk, free_memory, gib
from benchsuite.methods import described_method
from benchsuite.methods.base import Method
from benchsuite.planning.data_folders import open_dataset
from benchsuite.planning.plan import Run
from benchsuite.planning.problems import Problem, Problems
from benchsuite.setup import Data, Expert, Experts, Protocol, Setup
from benchsuite.training.needs import TOWERS, reads_paraphrases, require_served

T = TypeVar("T")
RECORD_BYTES, ITEM_BYTES = 2**16, 256
"""Of a record, and of an evaluated item's ranks: more than any takes."""


@dataclass(frozen=True)
class Checked:
    """Why runs cannot be done, and what may go wrong."""

    problems: Sequence[Problem]
    notes: Sequence[str]


def preflight(
    runs: Sequence[Run], results: Path, jobs: int = 1, devices: Devices | None = None, elsewhere: bool = False
) -> Checked:
    """Check runs that `jobs` at a time are to be done on `devices` and stored in `results`.

    `elsewhere`: on other machines than this one, of whose devices and memory nothing is known here.
    """
    devices = None if elsewhere else devices
    checks = _Checks(elsewhere, devices)
    found = Problems()
    for run in runs:
        for where, what in checks.of(run):
            found.add(where, what, run.row)
    problems = found.listed()
    free, needed = free_disk(results), sum(map(checks.stored_bytes, runs))
    if needed > free:
        stored = "records and weights" if any(run.keep_weights for run in runs) else "records"
        what = f"{len(runs)} {stored} take up to {gib(needed)}; {gib(free)} are free on its disk. Use another folder."
        problems.append(Problem(f"--results {results}", what))
    memory, have = free_memory()
    largest = max(checks.memory.values(), default=0.0)
    tight = memory < largest * jobs and not elsewhere
    note = (
        f"the largest objective needs about {gib(largest)} in each of {jobs} runs at a time, besides the towers; "
        f"{gib(memory)} {have}. If a run ends for lack of memory, give --jobs 1."
    )
    notes = [note] if tight and largest <= memory else []
    of_devices = fewer_processes(runs, devices) if devices else []
    return Checked(problems, [*of_devices, *notes])


def fewer_processes(runs: Sequence[Run], devices: Devices) -> Iterator[str]:
    """A line for each number of processes that setups are for and that has fewer devices."""
    for shares in sorted({run.setup.training.processes for run in runs}):
        if not devices.problem(shares) and (processes := devices.processes(shares)) < shares:
            does = "1 process does" if processes == 1 else f"{processes} processes do"
            yield (
                f"{does} each run of a setup for {shares}, with {shares // processes} shares of a batch one after the "
                "other: the result is equal beyond rounding, a step takes longer."
            )


@dataclass(frozen=True)
class _Checks:
    """What was checked, so that nothing is checked or read twice."""

    elsewhere: bool = False
    devices: Devices | None = None
    memory: dict[tuple[str, str], float] = field(default_factory=dict)
    """Bytes of the objectives, by setup and method."""
    _objectives: dict[tuple[object, ...], Objective] = field(default_factory=dict)
    _known: dict[Hashable, Any] = field(default_factory=dict)
    _pass: DryPass = field(default_factory=DryPass)

    def _once(self, what: Hashable, find: Callable[[], T]) -> T:
        if what not in self._known:
            self._known[what] = find()
        return cast(T, self._known[what])

    def of(self, run: Run) -> list[tuple[str, str]]:
        """Where each problem of a run is, and what it is."""
        return self._once(("run", run.recipe, run.setup.setup_id, run.method.method_id), lambda: list(self._all(run)))

    def stored_bytes(self, run: Run) -> int:
        """An upper bound of what the run stores; of its weights, if a dry pass has counted them."""
        items = self._once(("items", run.setup.setup_id), lambda: sum(self._items(run.setup)))
        objective = self._objectives.get(_passed_as(run), Objective(0, 0))
        return RECORD_BYTES + ITEM_BYTES * items + FLOAT * objective.tower_parameters * run.keep_weights

    def _items(self, setup: Setup) -> Iterator[int]:
        """Of the split that each protocol evaluates; of all splits if it does not say which."""
        for protocol in setup.protocols.values():
            splits = self._open(protocol.data or setup.data).manifest().splits
            yield splits.get(protocol.options.get("split", ""), sum(splits.values()))

    def _all(self, run: Run) -> Iterator[tuple[str, str]]:
        setup, recipe = run.setup, f"recipe {run.recipe}"
        for name, protocol in setup.protocols.items():
            data = protocol.data or setup.data
            key = ("protocol", setup.towers, protocol.task, protocol.model_dump_json(), data.place)
            for problem in self._once(key, partial(self._protocol, setup, protocol, data)):
                yield f"{recipe}, protocol {name} (task {protocol.task})", problem
        trouble = list(self._training(run))
        yield from ((f"{recipe}, {part}", problem) for part, problem in trouble)
        if not trouble and (problem := self._once(("pass", *_passed_as(run)), lambda: self._dry(run))):
            yield f"{recipe}, method {run.method.name}", problem

    def _protocol(self, setup: Setup, protocol: Protocol, data: Data) -> list[str]:
        task = create_task(protocol.task, **protocol.options)
        lacks = sorted(task.embeds - SIDES[setup.towers])
        missing = [f"it embeds {side}s, but the setup has {TOWERS[setup.towers]}." for side in lacks]
        return [*missing, *task.problems(self._open(data))]

    def _training(self, run: Run) -> Iterator[tuple[str, str]]:
        setup = run.setup
        method = described_method(run.method.name, **run.method.hyperparameters)
        if self.devices and (problem := self.devices.problem(setup.training.processes)):
            yield "training", problem
        yield from _refused(f"method {run.method.name}", lambda: require_served(method, setup))
        try:
            split = self._train(setup.data)
        except BenchsuiteError as error:
            yield f"data {setup.data.name}", str(error)
            return
        yield from _refused("training", lambda: BatchPlan(split, setup.training.batch, setup.augmentation, seed=0))
        yield from self._needed(method, setup, split)

    def _needed(self, method: Method, setup: Setup, split: Split) -> Iterator[tuple[str, str]]:
        name = f"method {method.card.name}"
        if setup.training.compiled and not has_compiler():
            missing = "there is no C++ compiler: install g++, name yours in CXX, or leave compiled out."
            yield "training.compiled", missing
        if reads_paraphrases(method.needs, setup) and not len(split.paraphrases):
            yield f"data {setup.data.name}, {name}", str(no_paraphrases(split.name))
        experts = setup.experts or Experts()
        embedded = [("experts.image", experts.image, "image"), ("experts.text", experts.text, "text")]
        asked = [one for one in embedded if f"{one[2]}_expert" in method.needs]
        if (clusters := setup.clusters) and "cluster" in method.needs:
            yield from _refused("clusters", lambda: labelled_clusters(clusters, split))
            if clusters.labels is None:
                asked.append(("clusters", Expert(embedding=clusters.embedding, options=clusters.options), "text"))
        for where, expert, side in asked:
            if expert:
                load = partial(require_embedding, expert, side, setup, split)
                yield from self._once((where, repr(expert), setup.data.place), partial(_refused, where, load))

    def _dry(self, run: Run) -> str:
        """What a dry pass meets, or that the objective cannot fit; "" if neither."""
        try:
            objective = self._pass(run.setup, run.method, self._train(run.setup.data))
        except BenchsuiteError as error:
            return str(error)
        except Exception as error:
            return f"a dry pass of two samples ended with {unexpected(error)}."
        self._objectives[_passed_as(run)] = objective
        batch, (free, have) = run.setup.training.batch, free_memory()
        needs = self.memory[run.setup.setup_id, run.method.method_id] = objective.bytes(batch)
        if needs <= free or self.elsewhere:
            return ""
        return (
            f"its objective needs at least {gib(needs)}: {objective.bytes_per_pair:.0f} bytes for each of "
            f"{batch} x {batch} pairs of a batch, {gib(objective.block_bytes)} of blocks of rows, and "
            f"{gib(objective.state_bytes)} of parameters and state; "
            f"{gib(free)} {have}. Take a smaller training.batch."
        )

    def _open(self, data: Data) -> PairDataset:
        return self._once(("data", data.place), lambda: open_dataset(data))

    def _train(self, data: Data) -> Split:
        return self._once(("split", data.place), lambda: self._open(data).split(TRAIN))


SIDES = {"pair": {"image", "text"}, "image": {"image"}, "text": {"text"}}


def require_ready(problems: Sequence[Problem]) -> None:
    """Refuse all runs if there is a problem in any, and list all problems."""
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise UsageError(f"{count} before the first step; nothing was run.", more=[f"  {each}" for each in problems])


def _passed_as(run: Run) -> tuple[object, ...]:
    """What a dry pass depends on: not on what each replicate draws of the data, nor on rates and real numbers found by
    its search."""
    setup, parts = run.setup, ("image", "text", "projection", "augmentation", "training", "clusters", "experts")
    found = run.tuned.searched if run.tuned else []
    given = run.method.hyperparameters.items()
    values = {name: value for name, value in given if name not in found or not isinstance(value, float)}
    method = run.method.model_copy(update={"hyperparameters": values, "learning_rate": None})
    data = (repr(setup.data.of_all_replicates), setup.data.folder, repr(setup.data.apart))
    return (repr(method), *data, *(repr(getattr(setup, part)) for part in parts))


def has_compiler() -> bool:
    """Whether there is the C++ compiler that compiled towers take."""
    return any(map(which, filter(None, (os.environ.get("CXX"), "g++", "clang++"))))


def _refused(where: str, check: Callable[[], object]) -> list[tuple[str, str]]:
    try:
        check()
    except BenchsuiteError as error:
        return [(where, str(error))]
    return []
