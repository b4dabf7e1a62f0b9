"""Trials of searches, of `tune` and `repro`: which are to do, what came of them, and both in words."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchsuite.analysis.stats import Paired, compare
from benchsuite.execution.events import Failed, Finished
from benchsuite.planning.chosen_trials import Trials, chosen_trial
from benchsuite.planning.recipe import recipe_name
from benchsuite.planning.subjects import Subject
from benchsuite.planning.trial_runs import TrialRun, content_of, trial_run
from benchsuite.records.store import Store
from benchsuite.records.trials import Trial, TrialsFile, add_trials, best
from benchsuite.report.numbers import counted, paired

CLIMBING = 0.01
"""A point, the smallest difference of interest: a search that gains more by its second half is too short."""
SHARE = 20
"""How many times as long as the last writing of trials took until they are written again."""


@dataclass(frozen=True)
class TrialWork:
    """Subjects with the trials that they have and those that they lack."""

    done: Sequence[tuple[Subject, Sequence[Trial]]]
    to_do: Sequence[TrialRun]
    brought: Sequence[TrialsFile] = ()
    """Those of `done` that come with benchsuite, and that the results folder lacks."""

    @classmethod
    def of(cls, subjects: Sequence[Subject], results: Path, anew: bool) -> "TrialWork":
        """Beside what a results folder has of them; `anew`: nothing comes with benchsuite."""
        rules = {subject.recipe: subject.rule for subject in subjects}
        stored = {name: Trials.stored(recipe_name(name), rule, results, anew) for name, rule in rules.items()}
        done, to_do = [], []
        for subject in subjects:
            trials = stored[subject.recipe]
            done.append((subject, trials.of(subject)))
            to_do += [trial_run(subject, number) for number in trials.lacks(subject)]
        brought = [trials.brought(one for one in subjects if one.recipe == name) for name, trials in stored.items()]
        return cls(done, to_do, [content for content in brought if content])

    @property
    def measured(self) -> dict[str, Trial]:
        """The stored trials by run, for estimates of time; not those that another machine measured."""
        brought = {trial.run_id for content in self.brought for trial in content.trials}
        stored = (trial for _, trials in self.done for trial in trials if trial.cost)
        return {trial.run_id: trial for trial in stored if trial.run_id not in brought}

    @property
    def to_search(self) -> list[tuple[str, str]]:
        """Each row with trials to do, and how many they are in how many replicates."""
        rows: dict[str, list[int]] = {}
        for trial in self.to_do:
            rows.setdefault(trial.subject.row, []).append(trial.subject.replicate)
        return [
            (row, f"{counted(len(found), 'trial')} in {counted(len({*found}), 'replicate')}")
            for row, found in rows.items()
        ]

    @property
    def lacking(self) -> list[Subject]:
        return list({str(trial.subject): trial.subject for trial in self.to_do}.values())


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
        done = self._by_run[event.run.run_id]
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
    def _by_run(self) -> dict[str, TrialRun]:
        return {trial.run.run_id: trial for trial in self.work.to_do}


def spaces(work: TrialWork) -> Iterator[str]:
    """A line for each kind of search: how many there are, and what is drawn from where to where."""
    kinds: dict[str, list[tuple[Subject, Sequence[Trial]]]] = {}
    for subject, trials in work.done:
        kinds.setdefault(subject.row, []).append((subject, trials))
    for row, searches in kinds.items():
        first, stored = searches[0][0], sum(len(trials) for _, trials in searches)
        of = f"{stored} of {len(searches) * first.trials} trials stored" + f" in {len(searches)} replicates" * (
            len(searches) > 1
        )
        yield f"  {row}: {of}; drawn: {', '.join(first.space())}"


def climbs(work: TrialWork) -> Iterator[tuple[str, int, Paired]]:
    """For each kind of search of all numbers in several replicates: its trials, and their best less that of a half.

    So much less a search of half the length finds.
    """
    kinds: dict[tuple[str, int], tuple[dict[int, float], dict[int, float]]] = {}
    for subject, trials in work.done:
        whole, half = (best(one for one in trials if one.number < n) for n in (subject.trials, subject.trials // 2))
        if subject.regime == "tuned" and len(trials) == subject.trials and whole and half:
            found = kinds.setdefault((subject.row, subject.trials), ({}, {}))
            for side, trial in zip(found, (whole, half), strict=True):
                assert trial.score is not None
                side[subject.replicate] = trial.score
    for (row, count), sides in kinds.items():
        if len(sides[0]) > 1:
            yield row, count, compare(*sides)


def climb_line(row: str, count: int, gain: Paired) -> str:
    """In words, in points."""
    return f"{row}: the best of {count} trials is {paired(gain, 'percent')} points above the best of {count // 2}"


def outcome(subject: Subject, trials: Sequence[Trial]) -> dict[str, Any]:
    """Of a subject: its trials, the best score, and the values that gave it; none if all diverged or there is none."""
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


def outcomes(work: TrialWork) -> list[dict[str, Any]]:
    """One for each subject; keys are in docs/formats.md."""
    return [outcome(subject, trials) for subject, trials in work.done]


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
