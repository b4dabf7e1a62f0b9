"""How long runs may take: by what is stored or a recipe says, or measured by short trainings before the first run."""

import math
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median

from benchsuite.errors import DivergedError
from benchsuite.execution.measure import measure
from benchsuite.grouping import by_key
from benchsuite.planning.plan import Run
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.trial_runs import TrialRun
from benchsuite.records.schema import MethodPart, Record
from benchsuite.records.trials import Trial
from benchsuite.setup import Setup, Training

PER_SECOND = 2000
"""Pairs of 224 x 224 pixels that one H200 trains, of RN50 and ViT-B/16 in bf16 (docs/at-size.md)."""
STARTUP_SECONDS = 15
"""What a command takes besides its runs: imports, checks, the start of its workers, and pages."""


def duration(runs: Sequence[Run], jobs: int, measured: Mapping[str, Record | Trial]) -> str:
    """How long the runs may take, in words, and what that includes; empty if there are none."""
    if not runs:
        return ""
    seconds = estimated_seconds(runs, jobs, measured) + STARTUP_SECONDS
    known = all(run.estimate for run in runs)
    if not known:
        return f"; {jobs} in parallel, {_by_pairs(runs)}"
    seen = evaluation_seconds(measured)
    evaluated = all(_evaluation(run, seen) is not None for run in runs)
    included = "evaluation included" if evaluated else "without evaluation, whose time is known once a run is stored"
    return f"; {about(seconds)} with {jobs} in parallel ({included})"


def _by_pairs(runs: Sequence[Run]) -> str:
    """What trainings of which no time is known take, for whoever knows how fast a GPU trains."""
    trainings = [run.setup.training for run in runs]
    seen = [run.steps * each.accumulation * each.batch for run, each in zip(runs, trainings, strict=True)]
    return f"together {_pairs(sum(seen), trainings)}"


def _pairs(count: int, trainings: Sequence[Training], seconds: float = 0.0) -> str:
    """So many pairs and what they take: a CPU these seconds, or a GPU if all trainings are in bf16, as it was measured.

    Else no device is known.
    """
    time = f": {about(seconds)} of InfoNCE on a core of a laptop" if seconds else ""
    if not seconds and all(each.precision == "bf16" for each in trainings):
        gpu = f"a GPU that trains {PER_SECOND:,} a second (benchmarks/gpu.py measures yours)"
        time = f": {about(count / PER_SECOND)} of {gpu}"
    return f"{count:,} pairs{time}"


def without_data(name: str) -> str:
    """What one run of a recipe takes, where its data are not there to plan it."""
    recipe = read_recipe(name)
    training, steps = recipe.training, recipe.training.steps * recipe.training.accumulation
    seconds = steps * max(backbone.step_seconds for backbone in recipe.backbones.values())
    shared = f"; up to {training.processes} devices can share it" if training.processes > 1 else ""
    return f"  recipe {name}: a run sees {_pairs(steps * training.batch, [training], seconds)}{shared}"


def about(seconds: float) -> str:
    """A rough duration in words."""
    if seconds < 90:
        return f"about {math.ceil(seconds)} s"
    return f"about {math.ceil(seconds / 60)} min" if seconds < 6 * 3600 else f"about {round(seconds / 3600)} hours"


def estimated_seconds(runs: Sequence[Run], jobs: int, records: Mapping[str, Record | Trial]) -> float:
    """How long the runs may take, from records or trials of the same setup and method if any, else from the recipe.

    Of several the median counts: one that ran beside other work can have taken ten times as long. A recipe says nothing
    of evaluation; it takes as long as after stored runs that were evaluated alike, if any.
    """
    measured = _medians(
        ((record.setup_id, *_trained(record.method)), seconds + (record.cost.get("evaluation_seconds") or 0.0))
        for record in records.values()
        if (seconds := record.cost.get("seconds")) is not None
    )
    seen = evaluation_seconds(records)
    each = []
    for run in runs:
        guess = run.estimate + (_evaluation(run, seen) or 0.0)
        each.append(measured.get((run.setup.setup_id, *_trained(run.method)), guess))
    return max(sum(each) / jobs, max(each, default=0.0))


def _trained(method: MethodPart) -> tuple[str, float]:
    """Which method, and how many times the setup's steps it trains."""
    return method.name, method.longer


def evaluation_seconds(records: Mapping[str, Record | Trial]) -> dict[Hashable, float]:
    """What an evaluation takes, by setup of which one was measured, and by how setups are evaluated."""
    known = [(record, seconds) for record in records.values() if (seconds := record.cost.get("evaluation_seconds"))]
    alike = ((_evaluated_as(one.setup), seconds) for one, seconds in known if not isinstance(one, Trial))
    return _medians(chain(((one.setup_id, seconds) for one, seconds in known), alike))


def _medians(numbers: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    return {key: median(several) for key, several in by_key(numbers).items()}


def _evaluation(run: Run, seen: Mapping[Hashable, float]) -> float | None:
    return seen.get(run.setup.setup_id, seen.get(_evaluated_as(run.setup)))


def _evaluated_as(setup: Setup) -> Hashable:
    """Other towers or steps may differ: the protocols on the data are most of what an evaluation takes."""
    return setup.data.name, tuple(sorted(protocol.model_dump_json() for protocol in setup.protocols.values()))


SHORT, LONGER = 20, 60
"""Steps of the two trainings from which a longer one is extrapolated."""


@dataclass(frozen=True)
class Pace:
    """Seconds a run and a trial of each method, measured here by the first one that is asked about."""

    runs: dict[tuple[str, float], float] = field(default_factory=dict)
    trials: dict[tuple[str, float], float] = field(default_factory=dict)

    def by_replicate(self, runs: Iterable[Run], trials: Iterable[TrialRun]) -> dict[int, float]:
        """Seconds of these runs and trials one after another, in each replicate."""
        spent: dict[int, float] = {}
        of_runs = ((run.seed, self.runs, run) for run in runs)
        of_trials = ((trial.subject.replicate, self.trials, trial.run) for trial in trials)
        for replicate, known, run in chain(of_runs, of_trials):
            if (trained := _trained(run.method)) not in known:
                known[trained] = seconds_of(run)
            spent[replicate] = spent.get(replicate, 0.0) + known[trained]
        return spent


def seconds_of(run: Run) -> float:
    """Of the whole run, if nothing else is done; the recipe's estimate where a few steps diverge."""
    try:
        _seconds(run, 1)  # imports, and fills caches
        short, longer = _seconds(run, SHORT), _seconds(run, LONGER)
    except DivergedError:
        return run.estimate
    times = run.method.longer  # of the steps of the two trainings, too
    return short + max(longer - short, 0.0) / (LONGER - SHORT) * (run.steps / times - SHORT)


def _seconds(run: Run, steps: int) -> float:
    changed = {"training": run.setup.training.model_copy(update={"steps": steps})}
    started = time.perf_counter()
    measure(run.model_copy(update={"setup": run.setup.model_copy(update=changed), "keep_weights": False}))
    return time.perf_counter() - started


def together(seconds: Iterable[float], jobs: int) -> float:
    """Of so much work in parallel, with the start and the end of a command."""
    return sum(seconds) / jobs + STARTUP_SECONDS
