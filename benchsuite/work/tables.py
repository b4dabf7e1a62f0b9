"""The runs of tables beside what is stored of them: which are to be done, and which trials come first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchsuite.planning.plan import Plan, Run
from benchsuite.planning.problems import Problem
from benchsuite.planning.trial_runs import grouped
from benchsuite.records.contents import Contents
from benchsuite.report.numbers import counted
from benchsuite.work.trials import TrialWork


@dataclass(frozen=True)
class TableWork:
    """The plans of several tables, and what the results folder has of them."""

    plans: Sequence[Plan]
    contents: Contents
    results: Path
    """The folder of the contents."""
    keep_weights: bool = False
    """Whether every run keeps its weights, whatever its recipe says."""
    anew: bool = False
    """Whether searches are done though they come with benchsuite."""

    @cached_property
    def runs(self) -> list[Run]:
        """Each run of the plans once."""
        runs = {run.run_id: run for plan in self.plans for run in plan.runs}.values()
        return [run.model_copy(update={"keep_weights": self.keep_weights or run.keep_weights}) for run in runs]

    @cached_property
    def trials(self) -> TrialWork:
        subjects = grouped(subject for plan in self.plans for subject in plan.subjects)
        return TrialWork.of(subjects, self.results, self.anew)

    @property
    def missing(self) -> list[Run]:
        return [run for run in self.runs if self.state(run) == "to do"]

    @property
    def problems(self) -> list[Problem]:
        """Each problem of the plans once."""
        return list(dict.fromkeys(problem for plan in self.plans for problem in plan.problems))

    @property
    def without_weights(self) -> int:
        """How many runs are stored without the weights that they are now to keep."""
        records = self.contents.records
        kept = [run for run in self.runs if run.keep_weights and run.run_id in records]
        return sum(records[run.run_id].weights is None for run in kept)

    def state(self, run: Run) -> str:
        """Whether a run is stored, to be done, or stored in a file that is refused."""
        if run.run_id in self.contents.records:
            return "stored"
        return "refused" if run.run_id in self.contents.refused_runs else "to do"

    def states(self) -> list[dict[str, str]]:
        """The state of each run; keys are in docs/formats.md."""
        return [{"run_id": run.run_id, "state": self.state(run), "label": run.label} for run in self.runs]

    def lines(self) -> list[str]:
        """What is to be tuned, run and left out: a line for each row of a table and a regime."""
        several = len({plan.request.table for plan in self.plans}) > 1
        rows: dict[str, Counter[str]] = {}
        for plan in self.plans:
            table = f"{plan.request.table} " if several else ""
            how = ", as printed" if plan.request.regime == "printed" and len(self.plans) > 1 else ""
            for run in plan.runs:
                rows.setdefault(f"{table}{run.row}{how}", Counter())[self.state(run)] += 1
        return [
            *(f"  to search  {row}: {how_many}" for row, how_many in self.trials.to_search),
            *(f"  {row}: {', '.join(counts(states))}" for row, states in rows.items()),
            *(f"  not run  {plan.request.table} {what}" for plan in self.plans for what in plan.not_run),
        ]


def counts(states: Counter[str]) -> list[str]:
    """In how many replicates a row's runs are in each state."""
    return [f"{counted(number, 'replicate')} {state}" for state, number in sorted(states.items(), reverse=True)]
