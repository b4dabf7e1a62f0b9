"""How long runs take on this machine: measured by short trainings, with their evaluations, before the first run."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchsuite.errors import DivergedError
from benchsuite.execution.measure import measure
from benchsuite.planning.plan import Run
from benchsuite.planning.trial_runs import TrialRun
from benchsuite.work.duration import STARTUP_SECONDS

SHORT, LONGER = 20, 60
"""Steps of the two trainings from which a longer one is extrapolated."""


@dataclass(frozen=True)
class Pace:
    """Seconds a run and a trial of each method."""

    runs: dict[str, float]
    trials: dict[str, float]

    @classmethod
    def here(cls, runs: Iterable[Run], trials: Iterable[TrialRun]) -> "Pace":
        """By the first run and the first trial of each method."""
        first_runs = {run.method.name: run for run in reversed([*runs])}
        first_trials = {trial.run.method.name: trial.run for trial in reversed([*trials])}
        return cls(*({name: seconds_of(run) for name, run in first.items()} for first in (first_runs, first_trials)))

    def by_replicate(self, runs: Iterable[Run], trials: Iterable[TrialRun]) -> dict[int, float]:
        """Seconds of these runs and trials one after another, in each replicate."""
        spent: dict[int, float] = {}
        for run in runs:
            spent[run.seed] = spent.get(run.seed, 0.0) + self.runs[run.method.name]
        for trial in trials:
            replicate = trial.subject.replicate
            spent[replicate] = spent.get(replicate, 0.0) + self.trials[trial.run.method.name]
        return spent


def seconds_of(run: Run) -> float:
    """Of the whole run, if nothing else is done; the recipe's estimate where a few steps diverge."""
    try:
        _seconds(run, 1)  # imports, and fills caches
        short, longer = _seconds(run, SHORT), _seconds(run, LONGER)
    except DivergedError:
        return run.estimate
    return short + max(longer - short, 0.0) / (LONGER - SHORT) * (run.steps - SHORT)


def _seconds(run: Run, steps: int) -> float:
    changed = {"training": run.setup.training.model_copy(update={"steps": steps})}
    started = time.perf_counter()
    measure(run.model_copy(update={"setup": run.setup.model_copy(update=changed)}))
    return time.perf_counter() - started


def together(seconds: Iterable[float], jobs: int) -> float:
    """Of so much work in parallel, with the start and the end of a command."""
    return sum(seconds) / jobs + STARTUP_SECONDS


def replicates_within(budget: float, spent: Sequence[float], jobs: int, least: int) -> int:
    """How many replicates, of which each takes so many seconds, a budget is enough for; at least `least`."""
    enough = [n for n in range(least, len(spent) + 1) if together(spent[:n], jobs) <= budget]
    return max(enough, default=min(least, len(spent)))
