"""The trials that there are, and the best of them: what a searched row takes its hyper-parameters from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.subjects import Subject
from benchsuite.records import trials as stored_trials
from benchsuite.records.names import TRIALS
from benchsuite.records.shipped import shipped_trials
from benchsuite.records.trials import Trial, TrialsFile, best, by_subject, changed_rule, read_trials, require_rule


@dataclass(frozen=True)
class Trials:
    """The trials of a recipe in a results folder, and those that come with benchsuite."""

    file: TrialsFile | None = None
    shipped: TrialsFile | None = None

    @classmethod
    def stored(cls, recipe: str, rule: Tuning, results: Path, anew: bool = False) -> "Trials":
        """Those of the folder; refused if they were made by another rule than the recipe's.

        `anew`: without those that come with benchsuite.
        """
        path, told = results / TRIALS / f"{recipe}.parquet", rule.model_dump(mode="json")
        shipped = None if anew else shipped_trials(recipe)
        if shipped and changed_rule(shipped, told):
            shipped = None
        if not path.exists():
            return cls(None, shipped)
        file = read_trials(path)
        require_rule(file, told, path)
        return cls(file, shipped)

    def brought(self, subjects: Iterable[Subject]) -> TrialsFile | None:
        """What the searches of subjects take from benchsuite; none if the folder has all."""
        if self.shipped is None:
            return None
        keys = {subject.key for subject in subjects}
        there = {(trial.subject, trial.number) for trial in self.file.trials} if self.file else set()
        new = [one for one in self.shipped.trials if one.subject in keys and (one.subject, one.number) not in there]
        return self.shipped.model_copy(update={"trials": new}) if new else None

    @cached_property
    def _by_subject(self) -> Mapping[stored_trials.Subject, Sequence[Trial]]:
        return by_subject(file for file in (self.shipped, self.file) if file)

    def of(self, subject: Subject) -> list[Trial]:
        """The first trials of a subject, as many as it is to have if there are so many."""
        numbers = {trial.number: trial for trial in self._by_subject.get(subject.key, ())}
        return [numbers[number] for number in range(subject.trials) if number in numbers]

    def lacks(self, subject: Subject) -> list[int]:
        """Numbers of the first trials that are still to be done."""
        there = {trial.number for trial in self.of(subject)}
        return [number for number in range(subject.trials) if number not in there]


def chosen_trial(trials: Iterable[Trial], subject: Subject) -> Trial:
    """The best trial; refused if all failed."""
    if (chosen := best(trials)) is None:
        raise UsageError(f"{subject}: all of its trials diverged, so nothing can be chosen; leave it out with --rows.")
    return chosen
