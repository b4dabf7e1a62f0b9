"""The runs of tables, and the trials of their searches: which are to do, what came of them, and both in words."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchsuite.analysis.climbs import climb
from benchsuite.analysis.stats import Paired
from benchsuite.execution.events import Failed, Finished
from benchsuite.grouping import by_key
from benchsuite.papers import read_table
from benchsuite.planning.chosen_trials import Trials, chosen_trial
from benchsuite.planning.plan import Plan, Run
from benchsuite.planning.problems import Problem
from benchsuite.planning.recipe import recipe_name
from benchsuite.planning.subjects import Subject
from benchsuite.planning.trial_runs import TrialRun, content_of, grouped, trial_run
from benchsuite.records.contents import Contents
from benchsuite.records.method_version import edited
from benchsuite.records.schema import MethodPart, Record, knows, searches_of
from benchsuite.records.shipped import shipped_digests
from benchsuite.records.store import Store
from benchsuite.records.trials import Trial, TrialsFile, add_trials
from benchsuite.report.numbers import counted

SHARE = 20
"""How many times as long as the last writing of trials took until they are written again."""


@dataclass(frozen=True)
class TrialWork:
    """Subjects with the trials that they have and those that they lack."""

    done: Sequence[tuple[Subject, Sequence[Trial]]]
    to_do: Sequence[TrialRun]
    brought: Sequence[TrialsFile] = ()
    """Those of `done` that come with benchsuite, and that the results folder lacks."""
    shared: Sequence[TrialsFile] = ()
    """Those of `done` that are stored as trials of another search, and not of theirs."""

    @classmethod
    def of(cls, subjects: Sequence[Subject], results: Path, anew: bool) -> "TrialWork":
        """Beside what a results folder has of them; `anew`: nothing comes with benchsuite."""
        rules = {subject.recipe: subject.rule for subject in subjects}
        stored = {name: Trials.stored(recipe_name(name), rule, results, anew) for name, rule in rules.items()}
        done, to_do = [], dict[tuple[str, str], TrialRun]()
        for subject in subjects:
            trials = stored[subject.recipe]
            done.append((subject, trials.of(subject)))
            for trial in (trial_run(subject, number) for number in trials.lacks(subject)):
                to_do.setdefault((subject.recipe, trial.run.run_id), trial)  # the first search that drew it does it
        own = by_key((subject.recipe, subject) for subject in subjects)
        brought = [trials.brought(own[name]) for name, trials in stored.items()]
        shared = [trials.shared(own[name]) for name, trials in stored.items()]
        return cls(done, [*to_do.values()], *([one for one in files if one] for files in (brought, shared)))

    @property
    def methods(self) -> list[MethodPart]:
        """Those of stored trials, as they were run."""
        return [trial.method for _, trials in self.done for trial in trials]

    @property
    def measured(self) -> dict[str, Trial]:
        """The stored trials by run, for estimates of time; not those that another machine measured."""
        brought = {trial.run_id for content in (*self.brought, *self.shared) for trial in content.trials}
        stored = (trial for _, trials in self.done for trial in trials if trial.cost)
        return {trial.run_id: trial for trial in stored if trial.run_id not in brought}

    @property
    def to_search(self) -> list[tuple[str, str]]:
        """Each row with trials to do, and how many they are in how many replicates."""
        subjects = (trial.subject for trial in self.to_do)
        rows = by_key(((subject.recipe, subject.row), subject.replicate) for subject in subjects)
        return [
            (row, f"{counted(len(found), 'trial')} in {counted(len({*found}), 'replicate')}")
            for (_, row), found in rows.items()
        ]

    @property
    def lacking(self) -> list[Subject]:
        return list({trial.subject.key: trial.subject for trial in self.to_do}.values())


@dataclass
class TrialKeeper:
    """Stores what comes of trials, several at once: their file is written whole, and may cost a twentieth of the time.

    What a kill takes away is done again, to equal results.
    """

    work: TrialWork
    store: Store
    _waiting: list[tuple[TrialRun, Trial]] = field(default_factory=list)
    _due: float = 0.0

    def keep(self, event: Finished | Failed) -> None:
        """The scores of a trial, or that it diverged."""
        for done in self._by_run[event.run.run_id]:
            trial = done.finished(event.record) if isinstance(event, Finished) else done.failed(event.reason)
            self._waiting.append((done, trial))
        if time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        started, files = time.monotonic(), dict[str, TrialsFile]()
        for done, trial in self._waiting:
            recipe = recipe_name(done.subject.recipe)
            own, others = content_of(trial, done.subject, recipe), files.get(recipe)
            files[recipe] = own.joined(others) if others else own
        for content in files.values():
            add_trials(self.store.folder, content)
        for done, _ in self._waiting:
            self.store.discard_checkpoints(done.run.run_id)
        self._waiting.clear()
        self._due = time.monotonic() + SHARE * (time.monotonic() - started)

    @cached_property
    def _by_run(self) -> dict[str, list[TrialRun]]:
        """One for each recipe whose search drew it."""
        return by_key((trial.run.run_id, trial) for trial in self.work.to_do)


def spaces(work: TrialWork) -> Iterator[str]:
    """A line for each kind of search: how many there are, and what is drawn from where to where."""
    kinds = by_key(((subject.recipe, subject.row), (subject, trials)) for subject, trials in work.done)
    for (_, row), searches in kinds.items():
        first, stored = searches[0][0], sum(len(trials) for _, trials in searches)
        of = f"{stored} of {len(searches) * first.trials} trials stored" + f" in {len(searches)} replicates" * (
            len(searches) > 1
        )
        yield f"  {row}: {of}; drawn: {', '.join(first.space())}"


def climbs(work: TrialWork) -> Iterator[tuple[str, int, Paired]]:
    """For each kind of search of all numbers in several replicates: its trials, and their best less that of a half.

    So much less a search of half the length finds.
    """
    whole = (
        (subject, trials)
        for subject, trials in work.done
        if subject.regime == "tuned" and len(trials) == subject.trials
    )
    kinds = by_key(
        ((subject.recipe, subject.row, subject.trials), (subject.replicate, trials)) for subject, trials in whole
    )
    for (_, row, count), searches in kinds.items():
        gain = climb(dict(searches), count)
        if gain.n > 1:
            yield row, count, gain


def outcome(subject: Subject, trials: Sequence[Trial]) -> dict[str, Any]:
    """Of a subject: its trials, the best score, and the values that gave it; none if all diverged or there is none.

    Keys are in docs/formats.md.
    """
    chosen = chosen_trial(trials, subject) if any(trial.score is not None for trial in trials) else None
    return {
        "subject": str(subject),
        "method": subject.method,
        "recipe": recipe_name(subject.recipe),
        "row": subject.label,
        "regime": subject.regime,
        "replicate": subject.replicate,
        "trials": len(trials),
        "diverged": sum(trial.score is None for trial in trials),
        "measure": subject.rule.measure,
        "best_score": chosen and chosen.score,
        "best_trial": chosen and chosen.number,
        "values": chosen and {name: chosen.method.hyperparameters[name] for name in subject.searched},
        "learning_rate": chosen and chosen.method.learning_rate,
    }


def outcome_line(one: Mapping[str, Any]) -> str:
    """The outcome in words."""
    about = f"{one['subject']}: {one['trials']} trials" + f", {one['diverged']} of them diverged" * bool(
        one["diverged"]
    )
    if one["best_score"] is None:
        return about
    values = {**one["values"], "learning rate": one["learning_rate"]}
    listed = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
    return f"{about}; best {one['measure']} {one['best_score']:.4f} (trial {one['best_trial']}): {listed}"


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
        """Each run of the plans once, with all searches that found it, also those that its record knows of."""
        runs: dict[str, Run] = {}
        for run in (run for plan in self.plans for run in plan.runs):
            record = self.contents.records.get(run.run_id)
            same = [other for other in (record, runs.get(run.run_id), run) if other]
            tuned = [*{key: one for other in same for key, one in searches_of(other).items()}.values()]
            searched = {"tuned": next(iter(tuned), None), "also_tuned": tuned[1:]}
            kept = self.keep_weights or run.keep_weights or bool(record and record.weights)
            runs[run.run_id] = run.model_copy(update={**searched, "keep_weights": kept})
        return [*runs.values()]

    @cached_property
    def trials(self) -> TrialWork:
        subjects = grouped(subject for plan in self.plans for subject in plan.subjects)
        return TrialWork.of(subjects, self.results, self.anew)

    @property
    def missing(self) -> list[Run]:
        return [run for run in self.runs if self.state(run) == "to do"]

    @property
    def shipped(self) -> list[Record]:
        """Those of its stored runs that come with benchsuite."""
        stored = [self.contents.records[run.run_id] for run in self.runs if self.state(run) == "stored"]
        return [record for record in stored if record.digest in shipped_digests()]

    @property
    def edited(self) -> list[str]:
        """Notes on methods of one's own that have changed since what is stored of them was measured."""
        runs = [self.contents.records[run.run_id].method for run in self.runs if self.state(run) == "stored"]
        return edited([*runs, *self.trials.methods])

    @property
    def problems(self) -> list[Problem]:
        """Each problem of the plans once."""
        return list(dict.fromkeys(problem for plan in self.plans for problem in plan.problems))

    @property
    def unplanned(self) -> list[str]:
        """Recipes of tables that have problems and no run, mostly for want of data."""
        tables = (plan.request for plan in self.plans if plan.problems and not plan.runs)
        return list(dict.fromkeys(read_table(asked.table).recipes[asked.scale] for asked in tables))

    @property
    def without_weights(self) -> int:
        """How many runs are stored without the weights that they are now to keep."""
        kept = [run.run_id for run in self.runs if run.keep_weights and self.state(run) == "stored"]
        return sum(self.contents.records[run_id].weights is None for run_id in kept)

    @property
    def trained(self) -> list[str]:
        """How much of pretrained towers is trained; where rows differ in it, in which."""
        rows: dict[str, dict[str, None]] = {}
        for run in self.runs:
            if text := run.setup.trained:
                rows.setdefault(text, {})[run.row] = None
        return [f"{text} ({', '.join(own)})" if len(rows) > 1 else text for text, own in rows.items()]

    def state(self, run: Run) -> str:
        """Whether a run is stored, to be done, or stored in a file that is refused.

        A run whose record does not know of one of its searches is done again: a row has one search.
        """
        if record := self.contents.records.get(run.run_id):
            return "stored" if knows(record, run) else "to do"
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
            *(f"  {line}" for line in self.trained),
            *(f"  {row}: {', '.join(counts(states))}" for row, states in rows.items()),
            *dict.fromkeys(f"  not run  {plan.request.table} {what}" for plan in self.plans for what in plan.not_run),
        ]


def counts(states: Counter[str]) -> list[str]:
    """In how many replicates a row's runs are in each state."""
    return [f"{counted(number, 'replicate')} {state}" for state, number in sorted(states.items(), reverse=True)]
